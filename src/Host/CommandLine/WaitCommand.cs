using System.CommandLine;
using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>The command <c>wait</c>: waits until storage jobs have ended, and pools and virtual disks are healthy. It starts no host.</summary>
internal static class WaitCommand
{
    /// <summary>Word of the command line.</summary>
    internal const string Name = "wait";

    private const double DaySeconds = 86_400;

    /// <summary>wait [-StorageJob NAME] [-StoragePool NAME] [-VirtualDisk NAME] [-Timeout SECONDS]</summary>
    public static Command Create()
    {
        Option<string> job = Text("--storage-job", "-StorageJob", "Name or unique identifier of storage jobs that are to end; wildcards are accepted in a name.");
        Option<string> pool = Text("--storage-pool", "-StoragePool", "Friendly name of storage pools that are to be healthy; wildcards are accepted.");
        Option<string> disk = Text("--virtual-disk", "-VirtualDisk", "Friendly name of virtual disks that are to be healthy; wildcards are accepted.");
        Option<double?> timeout = new Option<double?>("--timeout", "-Timeout")
        {
            Description = "Longest wait in seconds, 0 to 31536000; 0 looks once. The default is no limit.",
        };
        Command command = new Command(
            Name, "Waits until storage jobs have ended and storage pools and virtual disks are healthy. Exit code: 0 they have, and are; 1 a job was stopped; "
                + "2 a job failed; 3 unknown: no host runs or answers, there is no such object, or the command line is wrong; 4 the time was up before.")
        {
            job, pool, disk, timeout,
        };
        command.SetAction((result, cancellation) => ReportAsync(() => RunAsync(
            result.GetValue(job), result.GetValue(pool), result.GetValue(disk), result.GetValue(timeout), cancellation)));
        return command;
    }

    private static Option<string> Text(string name, string alias, string help) => new(name, alias) { Description = help };

    private static Task<int> RunAsync(string? job, string? pool, string? disk, double? timeout, CancellationToken cancellation)
    {
        if (job is null && pool is null && disk is null)
        {
            throw new UsageException("Nothing to wait for. Give -StorageJob, -StoragePool or -VirtualDisk with a name.");
        }

        if (timeout is < 0 or > 365 * DaySeconds or double.NaN)
        {
            throw new UsageException(FormattableString.Invariant($"-Timeout {timeout}: out of range. Valid: 0 to 31536000 seconds."));
        }

        return new Waiting(HostPaths.FromEnvironment(), job, pool, disk).RunAsync(timeout is { } seconds ? TimeSpan.FromSeconds(seconds) : null, cancellation);
    }

    private static async Task<int> ReportAsync(Func<Task<int>> run)
    {
        try
        {
            return await run().ConfigureAwait(false);
        }
        catch (UsageException e)
        {
            ReplyText.PrintError(Name, e.Error, Console.Error);
        }
        catch (StorageException e)
        {
            ReplyText.PrintError(Name, e.Error, Console.Error);
        }

        return HealthExit.Unknown;
    }
}
