namespace TierSpaces.Contracts;

/// <summary>A verb that is interrupted by its user: storage jobs that it waits for, and most other changes, go on in the host.</summary>
public static class InterruptedVerb
{
    /// <summary>Exit code of a command that is interrupted, as shells know it: 128 and the number of the signal.</summary>
    public const int ExitCode = 130;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(2);

    /// <summary>Whether something may go on in the host after a verb was interrupted.</summary>
    public static bool MayGoOn(VerbDescription verb) => verb.Verb is { ChangesState: true, IsAboutHost: false };

    /// <summary>Says what the host does now: which jobs go on, and how to look at them, or what becomes of another change.</summary>
    /// <param name="client">Client that starts no host.</param>
    /// <param name="verb">The verb; <see cref="MayGoOn"/> is true of it.</param>
    public static async Task<string> DescribeAsync(ManagementClient client, VerbDescription verb)
    {
        if (verb.Verb.JobName.Length == 0)
        {
            return $"{verb.Name} was interrupted; {verb.Verb.WhenInterrupted}";
        }

        const string how = "Get-StorageJob shows it, Stop-StorageJob stops it.";
        try
        {
            using CancellationTokenSource limit = new CancellationTokenSource(s_patience);
            GetStorageJobRequest request = new GetStorageJobRequest
            {
                Name = [verb.Verb.JobName], JobState = [StorageJobState.Running, StorageJobState.Suspended],
            };
            VerbReply<StorageJobInfo> reply = await client.SendAsync(request, limit.Token).ConfigureAwait(false);
            string[] jobs = Array.ConvertAll(reply.Objects, static job => $"'{job.Description}' ({job.Name} {job.UniqueId}, {job.PercentComplete} % complete)");
            return jobs.Length > 0 ? $"{verb.Name} was interrupted; its storage job goes on: {string.Join(", ", jobs)}. {how}"
                : $"{verb.Name} was interrupted; no storage job of the name '{verb.Verb.JobName}' runs.";
        }
        catch (Exception e) when (e is StorageException or OperationCanceledException)
        {
            return $"{verb.Name} was interrupted; if its storage job has begun, it goes on. {how}";
        }
    }
}
