using System.Management.Automation;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>
/// Base of every cmdlet: fills the request record with the parameters that PowerShell bound, sends it to the host and writes the reply. The classes
/// that derive from it are generated and hold parameters only.
///
/// Invariants
///  1. One pipeline record is one request, or one for each page of its answer.
///  2. Nothing that changes state is sent before ShouldProcess agreed. With -WhatIf the host is asked what it would do.
///  3. An error about one object is written and the pipeline goes on; it ends only when the host cannot be asked at all.
/// </summary>
/// <typeparam name="TRequest">The verb.</typeparam>
/// <typeparam name="TInfo">The objects it returns.</typeparam>
public abstract class StorageCommand<TRequest, TInfo> : PSCmdlet
    where TRequest : StorageRequest<TInfo>, new()
    where TInfo : class
{
    private static readonly VerbDescription s_verb = VerbDescription.Of(typeof(TRequest));

    private readonly CancellationTokenSource _stopped = new();
    private readonly List<TRequest> _deferred = [];   // filled only with -AsJob
    private bool _yesToAll;   // answers of the person, for the objects that follow in the pipeline
    private bool _noToAll;

    /// <summary>Runs the command as a background job and returns the job.</summary>
    [Parameter(HelpMessage = "Runs the command as a background job and returns the job.")]
    public SwitchParameter AsJob { get; set; }

    /// <summary>The machine to work on: this one.</summary>
    [Parameter(HelpMessage = "The machine to work on: only this one is accepted.")]
    [Alias("Session")]
    [ArgumentCompleter(typeof(SessionCompleter))]
    public PSObject[]? CimSession { get; set; }

    /// <summary>Accepted for existing scripts; there is one machine to work on.</summary>
    [Parameter(HelpMessage = "Accepted for existing scripts; there is one machine to work on.")]
    public int ThrottleLimit { get; set; }

    private string CommandName => MyInvocation.MyCommand.Name;

    private string Target => s_verb.Verb.IsAboutHost ? HostPaths.FromEnvironment().Title : BoundRequest.Target(this);

    /// <inheritdoc/>
    protected sealed override void BeginProcessing()
    {
        if (LocalSession.Refuse(CimSession) is { } error)
        {
            ThrowTerminatingError(ErrorRecords.From(error, CommandName));
        }
    }

    /// <inheritdoc/>
    protected sealed override void ProcessRecord()
    {
        TRequest request = BoundRequest.Fill(new TRequest(), this);
        if (s_verb.Verb is { ChangesState: true, IsAboutHost: false } && IsWhatIf)
        {
            ShowPlan(request);
        }
        else if (!s_verb.Verb.ChangesState || (ShouldProcess(Target, CommandName) && MayEndanger()))
        {
            Run(request);
        }
    }

    /// <inheritdoc/>
    protected sealed override void EndProcessing()
    {
        if (_deferred.Count > 0)
        {
            StorageCommandJob<TRequest, TInfo> job = new(MyInvocation.Line, CommandName, _deferred);
            JobRepository.Add(job);
            job.Start();
            WriteObject(job);
        }
    }

    /// <inheritdoc/>
    protected sealed override void StopProcessing() => _stopped.Cancel();

    private bool IsWhatIf => LanguagePrimitives.IsTrue(
        MyInvocation.BoundParameters.TryGetValue("WhatIf", out object? given) ? given : GetVariableValue("WhatIfPreference"));

    /// <summary>Asks, as a verb that destroys does, about a value that puts data at risk; -Confirm:$false and a preference of None answer it.</summary>
    private bool MayEndanger()
    {
        ParameterDescription? danger = s_verb.Parameters.FirstOrDefault(parameter =>
            parameter.Attribute.Endangers && MyInvocation.BoundParameters.TryGetValue(parameter.Name, out object? value) && LanguagePrimitives.IsTrue(value));
        return danger is null || MyInvocation.BoundParameters.ContainsKey("Confirm")
            || LanguagePrimitives.ConvertTo<ConfirmImpact>(GetVariableValue("ConfirmPreference")) == ConfirmImpact.None
            || ShouldContinue($"{danger.Attribute.Help} Set -{danger.Name} on {Target}?", CommandName, ref _yesToAll, ref _noToAll);
    }

    // The host says what it would do, so that what is printed is what would happen. ShouldProcess prints it where "What if" is printed.
    private void ShowPlan(TRequest request)
    {
        BoundRequest.AskWhatIf(request);
        VerbReply<TInfo> plan = Ask(request);
        foreach (string step in plan.Steps)
        {
            ShouldProcess(step, step, CommandName);
        }

        Write(new VerbReply<TInfo> { Warnings = plan.Warnings, Errors = plan.Errors });
    }

    private void Run(TRequest request)
    {
        if (AsJob)
        {
            _deferred.Add(request);
        }
        else
        {
            WritePages(request);
        }
    }

    // Objects that are written are released: a long list is never held as a whole.
    private void WritePages(StorageRequest<TInfo>? next)
    {
        while (next is not null)
        {
            VerbReply<TInfo> page = Ask(next);
            SessionDrives.Update(SessionState);   // before the objects are written: the next cmdlet of the pipeline may use the drive
            Write(page);
            next = page.Next(next);
        }
    }

    private VerbReply<TInfo> Ask(StorageRequest<TInfo> request)
    {
        Task<VerbReply<TInfo>> answer = HostConnection.For(s_verb).SendAsync(request, _stopped.Token);
        try
        {
            ShowProgressWhile(answer);
            return answer.GetAwaiter().GetResult();
        }
        catch (StorageException unreachable)
        {
            ThrowTerminatingError(ErrorRecords.From(unreachable.Error, CommandName));
            throw;
        }
        catch (Exception stopped) when (stopped is OperationCanceledException or PipelineStoppedException && _stopped.IsCancellationRequested)
        {
            WarnOfWhatGoesOn();
            throw new PipelineStoppedException();
        }
    }

    // A pipeline that stops takes no warnings any more, its host does.
    private void WarnOfWhatGoesOn()
    {
        if (InterruptedVerb.MayGoOn(s_verb) && Host?.UI is { } screen)
        {
            screen.WriteWarningLine(InterruptedVerb.DescribeAsync(HostConnection.Running(), s_verb).GetAwaiter().GetResult());
        }
    }

    // Only what takes longer than a second is worth a line on the screen.
    private void ShowProgressWhile(Task work)
    {
        ProgressRecord progress = new(0, CommandName, "Waiting for the storage host");
        bool shown = false;
        while (Task.WaitAny([work], TimeSpan.FromSeconds(1)) < 0)
        {
            JobProgress.Update(progress, s_verb.Verb.JobName);
            WriteProgress(progress);
            shown = true;
        }

        if (shown)
        {
            progress.RecordType = ProgressRecordType.Completed;
            WriteProgress(progress);
        }
    }

    private void Write(VerbReply<TInfo> reply)
    {
        foreach (string step in reply.Steps)
        {
            WriteVerbose(step);
        }

        foreach (string warning in reply.Warnings)
        {
            WriteWarning(warning);
        }

        foreach (TInfo found in reply.Objects)
        {
            WriteObject(OutputObject.From(found));
        }

        foreach (StorageErrorInfo error in reply.Errors)
        {
            WriteError(ErrorRecords.From(error, CommandName));
        }
    }
}
