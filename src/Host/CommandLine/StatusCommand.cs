using System.CommandLine;
using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>The command <c>status</c>: the host, what is not healthy, and the health as exit code. It starts no host.</summary>
internal static class StatusCommand
{
    /// <summary>Word of the command line.</summary>
    internal const string Name = "status";

    private const string Quiet = "--quiet";
    private const int PatienceSeconds = 10;
    private const string Verb = "Get-TierSpacesHost";

    /// <summary>status [-Json] [-Quiet]</summary>
    public static Command Create()
    {
        Option<bool> json = new Option<bool>("--json", "-Json") { Description = CommonParameters.HelpOf(CommonParameters.Json) };
        Option<bool> quiet = new Option<bool>(Quiet, "-Quiet") { Description = "Prints nothing; the exit code is the answer." };
        Command command = new Command(
            Name, $"Describes the host process and lists what is not healthy ({Verb} returns the same). Exit code: 0 healthy, 1 warning, 2 unhealthy or a storage "
                + $"pool that is not open, 3 unknown: no host runs, it does not answer within {PatienceSeconds} s, or the command line is wrong.")
        {
            json, quiet,
        };
        command.SetAction((result, cancellation) => result.GetValue(quiet)
            ? RunAsync(result.GetValue(json), TextWriter.Null, TextWriter.Null, cancellation)
            : RunAsync(result.GetValue(json), Console.Out, Console.Error, cancellation));
        return command;
    }

    /// <summary>Whether a command line, which may be wrong, is this command and asks it to print nothing.</summary>
    internal static bool IsQuiet(ParseResult parsed) =>
        parsed.CommandResult.Command is { Name: Name } command
            && command.Options.FirstOrDefault(static option => option.Name == Quiet) is { } quiet
            && parsed.GetResult(quiet) is { Implicit: false } given
            && !given.Tokens.Any(static token => bool.TryParse(token.Value, out bool isQuiet) && !isQuiet);

    private static async Task<int> RunAsync(bool isJson, TextWriter output, TextWriter error, CancellationToken cancellation)
    {
        HostPaths paths = HostPaths.FromEnvironment();
        using CancellationTokenSource patience = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        patience.CancelAfter(TimeSpan.FromSeconds(PatienceSeconds));
        try
        {
            using ManagementClient client = new ManagementClient(paths);
            using JsonDocument reply = JsonDocument.Parse(await client.SendAsync(Verb, "{}"u8.ToArray(), patience.Token).ConfigureAwait(false));
            return Print(reply.RootElement, isJson, output, error);
        }
        catch (StorageException e)
        {
            ReplyText.PrintError(Name, e.Error, error);
        }
        catch (OperationCanceledException)
        {
            StorageException silent = new StorageException(
                StorageErrors.Timeout, $"The host of {paths.Home} does not answer within {PatienceSeconds} s.", $"Look at its log, {paths.Log}.", paths.Home);
            ReplyText.PrintError(Name, silent.Error, error);
        }

        return HealthExit.Unknown;
    }

    private static int Print(JsonElement reply, bool isJson, TextWriter output, TextWriter error)
    {
        if (ReplyText.Print(VerbDescription.Find(Verb)!, reply, isJson, output, error, VerbCommand.TerminalWidth) != 0)
        {
            return HealthExit.Unknown;
        }

        TierSpacesHostInfo host = reply.GetProperty("Objects")[0].Deserialize(ContractsJson.Default.TierSpacesHostInfo)!;
        foreach (string fault in isJson ? [] : host.Faults)
        {
            output.WriteLine(fault);
        }

        return HealthExit.Of(host.HealthStatus);
    }
}
