using System.Management.Automation;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>Progress of the storage jobs that a command waits for.</summary>
internal static class JobProgress
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(1);

    /// <summary>Writes the running jobs of a name into a progress record. Leaves it unchanged if there are none or no host answers.</summary>
    internal static void Update(ProgressRecord progress, string jobName)
    {
        if (jobName.Length == 0 || Running(jobName) is not { Length: > 0 } jobs)
        {
            return;
        }

        progress.StatusDescription = jobs.Length == 1 ? jobs[0].Description : $"{jobs[0].Description}, and {jobs.Length - 1} more";
        progress.PercentComplete = jobs.Sum(job => job.PercentComplete) / jobs.Length;
        progress.SecondsRemaining = jobs.Max(job => TimeSpan.TryParse(job.TimeRemaining, out TimeSpan left) ? (int)left.TotalSeconds : -1);
    }

    private static StorageJobInfo[] Running(string name)
    {
        try
        {
            using CancellationTokenSource limit = new(s_patience);
            GetStorageJobRequest request = new() { Name = [name], JobState = [StorageJobState.Running] };
            return HostConnection.Running().SendAsync(request, limit.Token).GetAwaiter().GetResult().Objects;
        }
        catch (Exception failure) when (failure is StorageException or OperationCanceledException)
        {
            return [];
        }
    }
}
