using System.Runtime.InteropServices;
using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>
/// A verb as a command: reads what was typed by PowerShell's rules, asks the host, prints the answer. The same code for every
/// verb; it knows none of them.
/// </summary>
internal sealed class VerbCommand(VerbDescription verb, TextReader input, TextWriter output, TextWriter error)
{
    /// <summary>Runs the verb.</summary>
    /// <param name="tokens">Words after the verb.</param>
    /// <returns>Exit code: 0, 1 after an error on standard error, or 130 after Ctrl-C while it waited for a change.</returns>
    public async Task<int> RunAsync(IReadOnlyList<string> tokens)
    {
        try
        {
            VerbArguments arguments = VerbArguments.Read(verb, tokens);
            bool isWhatIf = verb.Verb.ChangesState && arguments.IsOn(CommonParameters.WhatIf);
            return isWhatIf ? await PlanAsync(RequestText.Write(verb, arguments, isWhatIf), arguments).ConfigureAwait(false)
                : IsDeclined(arguments) ? 0
                : await SendAsync(arguments).ConfigureAwait(false);
        }
        catch (UsageException e)
        {
            ReplyText.PrintError(verb.Name, e.Error, error);
        }
        catch (StorageException e)
        {
            ReplyText.PrintError(verb.Name, e.Error, error);
        }
        catch (OperationCanceledException)
        {
            using ManagementClient client = new ManagementClient();
            error.WriteLine(await InterruptedVerb.DescribeAsync(client, verb).ConfigureAwait(false));
            return InterruptedVerb.ExitCode;
        }

        return 1;
    }

    private async Task<int> SendAsync(VerbArguments arguments)
    {
        ReplyText text = new ReplyText(verb, arguments.IsOn(CommonParameters.Json), output, error, TerminalWidth);
        for (string? page = null, next; ; page = next)
        {
            using JsonDocument reply = await AskAsync(RequestText.Write(verb, arguments, isUnconfirmed: IsUnconfirmed(arguments), page: page))
                .ConfigureAwait(false);
            text.Print(reply.RootElement);
            if (!reply.RootElement.TryGetProperty(nameof(VerbReply<TierSpacesHostInfo>.NextPage), out JsonElement more))
            {
                return text.End();
            }

            next = more.GetString();
        }
    }

    private async Task<JsonDocument> AskAsync(byte[] body)
    {
        HostLauncher? launcher = verb.Verb.StartsNoHost ? null : ProcessHostLauncher.LaunchAsync;
        using ManagementClient client = new ManagementClient(launcher: launcher);
        using CancellationTokenSource interrupt = new CancellationTokenSource();
        using PosixSignalRegistration? signal = !InterruptedVerb.MayGoOn(verb) ? null : PosixSignalRegistration.Create(PosixSignal.SIGINT, context =>
        {
            context.Cancel = true;
            interrupt.Cancel();
        });
        return JsonDocument.Parse(await client.SendAsync(verb.Name, body, interrupt.Token).ConfigureAwait(false));
    }

    /// <summary>Prints the steps that the host would take. A verb about the host itself is not sent to it.</summary>
    private async Task<int> PlanAsync(byte[] body, VerbArguments arguments)
    {
        if (verb.Verb.IsAboutHost)
        {
            output.WriteLine($"What if: Performing the operation \"{verb.Name}\" on target \"{TargetOf(arguments)}\".");
            return 0;
        }

        using JsonDocument reply = await AskAsync(body).ConfigureAwait(false);
        foreach (JsonElement step in reply.RootElement.GetProperty("Steps").EnumerateArray())
        {
            output.WriteLine($"What if: {step.GetString()}");
        }

        return ReplyText.PrintRemarks(verb, reply.RootElement, error);
    }

    /// <summary>A person at a terminal who says no. Only what destroys asks without being told to.</summary>
    private bool IsDeclined(VerbArguments arguments)
    {
        if (!verb.Verb.ChangesState)
        {
            return false;
        }

        bool asks = arguments.Values.ContainsKey(CommonParameters.Confirm)
            ? arguments.IsOn(CommonParameters.Confirm)
            : IsDangerous(arguments) && HasTerminal;
        return asks && !SaysYes(arguments);
    }

    // A terminal that does not know its size has 0.
    /// <summary>Columns of the terminal; <see cref="int.MaxValue"/> where the output is none.</summary>
    internal static int TerminalWidth => !Console.IsOutputRedirected && Console.WindowWidth is > 0 and int width ? width : int.MaxValue;

    private static bool HasTerminal => !Console.IsInputRedirected && !Console.IsOutputRedirected;

    private bool IsDangerous(VerbArguments arguments) =>
        verb.Verb.Destroys || arguments.Given.Any(parameter => parameter.Attribute.Endangers && arguments.IsOn(parameter.Name));

    /// <summary>Whether the verb destroys something without a question: there is no terminal, and neither -Confirm nor -Force was given.</summary>
    private bool IsUnconfirmed(VerbArguments arguments) =>
        IsDangerous(arguments) && !HasTerminal && !arguments.Values.ContainsKey(CommonParameters.Confirm)
            && !(arguments.Values.ContainsKey("Force") && arguments.IsOn("Force"));

    private bool SaysYes(VerbArguments arguments)
    {
        ParameterDescription? danger = verb.Verb.Destroys ? null : arguments.Given.FirstOrDefault(static parameter => parameter.Attribute.Endangers);
        error.Write($"{verb.Name} on {TargetOf(arguments)}: {(danger is null ? verb.Verb.Help : $"-{danger.Name}: {danger.Attribute.Help}")} Go on? [y/N] ");
        return input.ReadLine()?.Trim().ToLowerInvariant() is "y" or "yes" or "a";
    }

    private string TargetOf(VerbArguments arguments) => verb.Verb.IsAboutHost ? HostPaths.FromEnvironment().Title
        : string.Join(", ", arguments.Given.Where(parameter => parameter.Attribute.Required).Select(p => arguments.Values[p.Name]));
}
