using System.CommandLine;
using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Supervision;
using TierSpaces.Host.Tracing;

namespace TierSpaces.Host.CommandLine;

/// <summary>
/// The commands of the executable beside the verbs. Verbs are listed here for help; <see cref="VerbCommand"/> runs them.
/// </summary>
internal static class OwnCommands
{
    /// <summary>Runs what was typed.</summary>
    public static Task<int> RunAsync(string[] words)
    {
        ParserConfiguration configuration = new ParserConfiguration { EnablePosixBundling = false, ResponseFileTokenReplacer = null };
        InvocationConfiguration invocation = new InvocationConfiguration { EnableDefaultExceptionHandler = false };
        RootCommand root = Build();
        return words.Length > 0 && UnknownCommand.Is(words[0], root.Subcommands.Select(static command => command.Name))
            ? Task.FromResult(UnknownCommand.Report(words[0], Console.Error))
            : InvokeAsync(root.Parse(words, configuration), invocation);
    }

    /// <summary>
    /// A command whose exit code is a health does not answer words that it does not know with that of a warning, and one that is to print nothing does not
    /// print errors of its command line.
    /// </summary>
    private static async Task<int> InvokeAsync(ParseResult parsed, InvocationConfiguration invocation)
    {
        if (parsed.Errors.Count > 0 && StatusCommand.IsQuiet(parsed))
        {
            return HealthExit.Unknown;
        }

        int code = await parsed.InvokeAsync(invocation).ConfigureAwait(false);
        return parsed.Errors.Count > 0 && parsed.CommandResult.Command.Name is StatusCommand.Name or WaitCommand.Name ? HealthExit.Unknown : code;
    }

    /// <summary>Names of the commands that a person types.</summary>
    public static IEnumerable<string> Names => Build(verbs: false).Subcommands.Where(c => !c.Hidden).Select(c => c.Name);

    private static RootCommand Build(bool verbs = true)
    {
        RootCommand root = new RootCommand("Storage Spaces on every machine: pools, resilient virtual disks, served over NBD.");
        root.Add(Serve());
        root.Add(Supervise());
        root.Add(OfVerb("start", "Start-TierSpacesHost"));
        root.Add(StatusCommand.Create());
        root.Add(OfVerb("stop", "Stop-TierSpacesHost"));
        root.Add(WaitCommand.Create());
        root.Add(TraceCommand.Create(ReportAsync));
        root.Add(OfflineCommands.Inspect(ReportAsync));
        root.Add(OfflineCommands.Extract(ReportAsync));
        root.Add(Completion());
        root.Add(Complete());
        foreach (VerbDescription verb in verbs ? VerbDescription.All : [])
        {
            root.Add(new Command(verb.Name, verb.Verb.Help));
        }

        return root;
    }

    private static Command Serve()
    {
        Option<bool> detach = new Option<bool>(ProcessHostLauncher.DetachOption) { Hidden = true };
        Option<SupervisorKind> supervisor = new Option<SupervisorKind>("--supervisor") { Description = "Who starts the host again when it dies." };
        Command command = new Command("serve", "Runs the host: opens pools and serves virtual disks.") { detach, supervisor };
        command.SetAction((result, _) => ReportAsync("serve", async () =>
        {
            ServeOptions options = new ServeOptions(result.GetValue(detach), result.GetValue(supervisor));
            await HostProcess.RunAsync(HostPaths.FromEnvironment(), options).ConfigureAwait(false);
            return 0;
        }));
        return command;
    }

    private static Command Supervise()
    {
        Command command = new Command(Supervisor.Command, "Starts the host again when it dies.") { Hidden = true };
        command.SetAction(_ => Supervisor.Run(HostPaths.FromEnvironment()));
        return command;
    }

    /// <summary>A short name for a verb about the host, with the switches of the verb: <c>-Force</c> and <c>--force</c> are the same.</summary>
    private static Command OfVerb(string name, string verbName)
    {
        VerbDescription verb = VerbDescription.Find(verbName)!;
        Command command = new Command(name, $"{verb.Verb.Help} The same as {verbName}.");
        List<(string Switch, Option<bool> Option)> switches =
        [
            .. CommonParameters.Of(verb).Select(static name => (name, OfSwitch(name, CommonParameters.HelpOf(name)))),
            .. verb.Parameters.Where(static parameter => parameter.IsSwitch)
                .Select(static parameter => (parameter.Name, OfSwitch(parameter.Name, parameter.Attribute.Help))),
        ];
        switches.ForEach(known => command.Add(known.Option));
        command.SetAction((result, _) => new VerbCommand(verb, Console.In, Console.Out, Console.Error)
            .RunAsync([.. switches.Where(known => result.GetValue(known.Option)).Select(static known => $"-{known.Switch}")]));
        return command;
    }

    /// <summary>An option in the form of command lines, and under the name of the verb's parameter.</summary>
    private static Option<bool> OfSwitch(string name, string help) =>
        new Option<bool>(string.Concat(name.Select(static (c, i) => char.IsUpper(c) ? (i == 0 ? "--" : "-") + char.ToLowerInvariant(c) : $"{c}")), $"-{name}")
        {
            Description = help,
        };

    private static Command Completion()
    {
        Argument<string> shell = new Argument<string>("shell") { Description = "bash or zsh." };
        Command command = new Command("completion", "Prints the script that completes words in a shell.") { shell };
        command.SetAction((result, _) => ReportAsync("completion", () =>
        {
            Console.Out.WriteLine(ShellCompletion.ScriptFor(result.GetValue(shell)!));
            return Task.FromResult(0);
        }));
        return command;
    }

    private static Command Complete()
    {
        Argument<string[]> words = new Argument<string[]>("words") { Arity = ArgumentArity.ZeroOrMore };
        Command command = new Command("complete", "Lists what may come next.") { words };
        command.Hidden = true;
        command.SetAction(result =>
        {
            foreach (string candidate in ShellCompletion.Candidates(result.GetValue(words) ?? [], Names, NamesOf))
            {
                Console.Out.WriteLine(candidate);
            }
        });
        return command;
    }

    private static IEnumerable<string> NamesOf(string windowsClass) => ObjectNames.Of(windowsClass).Select(known => known.Name);

    private static async Task<int> ReportAsync(string name, Func<Task<int>> run)
    {
        try
        {
            return await run().ConfigureAwait(false);
        }
        catch (UsageException e)
        {
            ReplyText.PrintError(name, e.Error, Console.Error);
        }
        catch (StorageException e)
        {
            ReplyText.PrintError(name, e.Error, Console.Error);
        }

        return 1;
    }
}
