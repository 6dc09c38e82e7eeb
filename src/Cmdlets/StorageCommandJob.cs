using System.Management.Automation;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>
/// Job that -AsJob returns: carries out the requests of one command, one after the other, in the background.
///
/// Invariant: the state goes NotStarted, Running, then once to Completed, Failed (an error was written) or Stopped.
/// </summary>
internal sealed class StorageCommandJob<TRequest, TInfo> : Job
    where TRequest : StorageRequest<TInfo>
    where TInfo : class
{
    private readonly CancellationTokenSource _stopped = new();
    private readonly string _commandName;
    private readonly IReadOnlyList<TRequest> _requests;

    /// <summary>Makes a job that has not started.</summary>
    /// <param name="line">The command as it was typed.</param>
    /// <param name="commandName">Name of the cmdlet, which is the job's name until the user renames it.</param>
    /// <param name="requests">Requests to carry out, in order.</param>
    internal StorageCommandJob(string line, string commandName, IReadOnlyList<TRequest> requests)
        : base(line.Trim(), commandName)
    {
        _commandName = commandName;
        _requests = requests;
        PSJobTypeName = "StorageJob";
    }

    /// <inheritdoc/>
    public override string Location => "localhost";

    /// <inheritdoc/>
    public override string StatusMessage => string.Empty;

    /// <inheritdoc/>
    public override bool HasMoreData =>
        Output.Count > 0 || Error.Count > 0 || Warning.Count > 0;

    /// <inheritdoc/>
    public override void StopJob()
    {
        _stopped.Cancel();
        Finished.WaitOne();
    }

    internal void Start()
    {
        SetJobState(JobState.Running);
        _ = Task.Run(RunAsync);
    }

    private async Task RunAsync()
    {
        VerbDescription verb = VerbDescription.Of(typeof(TRequest));
        ManagementClient client = HostConnection.For(verb);
        try
        {
            foreach (TRequest request in _requests)
            {
                for (StorageRequest<TInfo>? next = request; next is not null;)
                {
                    VerbReply<TInfo> page = await client.SendAsync(next, _stopped.Token).ConfigureAwait(false);
                    Write(page);
                    next = page.Next(next);
                }
            }

            SetJobState(Error.Count > 0 ? JobState.Failed : JobState.Completed);
        }
        catch (OperationCanceledException)
        {
            if (InterruptedVerb.MayGoOn(verb))
            {
                Warning.Add(new WarningRecord(await InterruptedVerb.DescribeAsync(HostConnection.Running(), verb).ConfigureAwait(false)));
            }

            SetJobState(JobState.Stopped);
        }
        catch (StorageException unreachable)
        {
            Error.Add(ErrorRecords.From(unreachable.Error, _commandName));
            SetJobState(JobState.Failed);
        }
    }

    private void Write(VerbReply<TInfo> reply)
    {
        foreach (string step in reply.Steps)
        {
            Verbose.Add(new VerboseRecord(step));
        }

        foreach (string warning in reply.Warnings)
        {
            Warning.Add(new WarningRecord(warning));
        }

        foreach (TInfo found in reply.Objects)
        {
            Output.Add(OutputObject.From(found));
        }

        foreach (StorageErrorInfo error in reply.Errors)
        {
            Error.Add(ErrorRecords.From(error, _commandName));
        }
    }
}
