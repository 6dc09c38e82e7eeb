using System.Diagnostics;
using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

// Invariants
//  1. An object that has been reached once (a job that ended, a healthy pool) is printed once; all of them have to be so at one look.
//  2. A host that died is given time to be started again, and to open its pools; one that a user has stopped is not waited for.

/// <summary>Waits for storage jobs, storage pools and virtual disks by asking the host again and again.</summary>
/// <param name="paths">Home of the host.</param>
/// <param name="job">Name or unique identifier of storage jobs; null for none.</param>
/// <param name="pool">Friendly name of storage pools; null for none.</param>
/// <param name="disk">Friendly name of virtual disks; null for none.</param>
internal sealed class Waiting(HostPaths paths, string? job, string? pool, string? disk)
{
    private static readonly TimeSpan s_period = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan s_answerPatience = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_restartPatience = TimeSpan.FromSeconds(30);

    private readonly Stopwatch _watch = Stopwatch.StartNew();
    private readonly HashSet<string> _printed = [];
    private string[]? _jobs;   // identifiers, once they are known
    private readonly Dictionary<string, TimeSpan> _seen = [];   // when each job was last listed
    private TimeSpan? _silentSince;
    private bool _hasAnswered;

    /// <summary>Returns the exit code when all is reached, or when the time is up.</summary>
    /// <exception cref="StorageException">There is no such object, or no host.</exception>
    public async Task<int> RunAsync(TimeSpan? timeout, CancellationToken cancellation)
    {
        while (true)
        {
            (int Code, List<string> Missing)? look = await TryLookAsync(cancellation).ConfigureAwait(false);
            if (look is (var code, { Count: 0 }))
            {
                return code;
            }

            if (_watch.Elapsed + s_period > timeout)
            {
                Console.Error.WriteLine(FormattableString.Invariant($"{WaitCommand.Name}: not within {timeout.Value.TotalSeconds} s."));
                look?.Missing.ForEach(Console.Error.WriteLine);
                return HealthExit.TimedOut;
            }

            await Task.Delay(s_period, cancellation).ConfigureAwait(false);
        }
    }

    /// <summary>Looks once; null while no host answers.</summary>
    private async Task<(int Code, List<string> Missing)?> TryLookAsync(CancellationToken cancellation)
    {
        using CancellationTokenSource patience = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        patience.CancelAfter(s_answerPatience);
        try
        {
            using ManagementClient client = new ManagementClient(paths);
            (int Code, List<string> Missing) look = await LookAsync(client, patience.Token).ConfigureAwait(false);
            (_silentSince, _hasAnswered) = (null, true);
            return look;
        }
        catch (StorageException e) when (e.Error.Word is nameof(StorageErrors.HostUnreachable) or nameof(StorageErrors.AnswerLost)
            or nameof(StorageErrors.ObjectNotFound) && IsWorthAnotherLook())
        {
            return null;
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            return IsWorthAnotherLook() ? null : throw new StorageException(
                StorageErrors.Timeout, $"The host of {paths.Home} does not answer.", $"Look at its log, {paths.Log}.", paths.Home);
        }
    }

    private bool IsWorthAnotherLook()
    {
        _silentSince ??= _watch.Elapsed;
        return _hasAnswered && !paths.WasStopped && _watch.Elapsed - _silentSince < s_restartPatience;
    }

    private async Task<(int Code, List<string> Missing)> LookAsync(ManagementClient client, CancellationToken cancellation)
    {
        List<string> missing = [];
        _jobs ??= job is null ? [] : await FindJobsAsync(client, job, cancellation).ConfigureAwait(false);
        int code = _jobs.Length == 0 ? HealthExit.Healthy : await LookAtJobsAsync(client, missing, cancellation).ConfigureAwait(false);
        if (pool is not null)
        {
            foreach (StoragePoolInfo one in await client.InvokeAsync(new GetStoragePoolRequest { FriendlyName = [pool] }, cancellation).ConfigureAwait(false))
            {
                Judge($"storage pool '{one.FriendlyName}'", one.HealthStatus, one.OperationalStatus, one.OtherOperationalStatusDescription, missing);
            }
        }

        if (disk is not null)
        {
            foreach (VirtualDiskInfo one in await client.InvokeAsync(new GetVirtualDiskRequest { FriendlyName = [disk] }, cancellation).ConfigureAwait(false))
            {
                Judge($"virtual disk '{one.FriendlyName}'", one.HealthStatus, one.OperationalStatus, one.OtherOperationalStatusDescription, missing);
            }
        }

        return (code, missing);
    }

    /// <summary>Returns the identifiers of the jobs: of several with one name those that have not ended, or the last one if all have.</summary>
    private static async Task<string[]> FindJobsAsync(ManagementClient client, string name, CancellationToken cancellation)
    {
        bool isId = Guid.TryParse(name, out Guid id);
        GetStorageJobRequest request = isId ? new GetStorageJobRequest { UniqueId = [id.ToString("B")] } : new GetStorageJobRequest { Name = [name] };
        StorageJobInfo[] jobs = await client.InvokeAsync(request, cancellation).ConfigureAwait(false);
        StorageJobInfo[] running = Array.FindAll(jobs, static one => !HasEnded(one));
        return [.. (running.Length > 0 ? running : jobs.OrderBy(static one => one.TimeOfLastStateChange).TakeLast(1)).Select(static one => one.UniqueId)];
    }

    private async Task<int> LookAtJobsAsync(ManagementClient client, List<string> missing, CancellationToken cancellation)
    {
        int code = HealthExit.Healthy;
        StorageJobInfo[] listed = await client.InvokeAsync(new GetStorageJobRequest(), cancellation).ConfigureAwait(false);
        foreach (string id in _jobs!)
        {
            StorageJobInfo? one = Array.Find(listed, listed => listed.UniqueId == id);
            string title = one is null ? $"storage job {id}" : $"storage job '{one.Name}' ({one.Description})";
            _seen[id] = one is null ? _seen.GetValueOrDefault(id) : _watch.Elapsed;
            if (one is null && _watch.Elapsed - _seen[id] < s_restartPatience)
            {
                missing.Add($"{title}: it is not listed.");
                continue;
            }

            if (one is not null && !HasEnded(one))
            {
                missing.Add($"{title}: {one.JobState}, {one.PercentComplete} % complete.");
                continue;
            }

            string result = one is null ? "it is not listed any more; its result is not known." : $"{one.JobState}. {one.ErrorDescription ?? one.JobStatus}";
            PrintOnce(id, $"{title}: {result}");
            code = Math.Max(code, one is null ? HealthExit.Unknown : CodeOf(one.JobState));
        }

        return code;
    }

    private static bool HasEnded(StorageJobInfo job) => job.JobState is nameof(StorageJobState.Completed) or nameof(StorageJobState.Terminated)
        or nameof(StorageJobState.Killed) or nameof(StorageJobState.Exception);

    private static int CodeOf(string state) => state switch
    {
        nameof(StorageJobState.Completed) => HealthExit.Healthy,
        nameof(StorageJobState.Exception) => HealthExit.Unhealthy,
        _ => HealthExit.Warning,
    };

    private void Judge(string title, string health, string[] status, string? reason, List<string> missing)
    {
        if (health == nameof(HealthStatus.Healthy))
        {
            PrintOnce(title, $"{title}: {health}.");
        }
        else
        {
            missing.Add($"{title}: {health} ({string.Join(", ", status)}). {reason}");
        }
    }

    private void PrintOnce(string key, string line)
    {
        if (_printed.Add(key))
        {
            Console.Out.WriteLine(line.TrimEnd());
        }
    }
}
