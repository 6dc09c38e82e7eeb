using System.Text.Json.Serialization.Metadata;
using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs;

/// <summary>Gathers a reply while a handler works: objects, warnings, and the errors of single objects.</summary>
/// <typeparam name="TInfo">Kind of the objects.</typeparam>
internal sealed class ReplyBuilder<TInfo>
    where TInfo : class
{
    private readonly List<string> _steps = [];
    private readonly List<TInfo> _objects = [];
    private readonly List<StorageErrorInfo> _errors = [];
    private readonly List<string> _warnings = [];
    private IEnumerable<TInfo> _stream = [];
    private string? _nextPage;   // token that requests the next page; null when there is none

    /// <summary>Whether the verb changes nothing: the reply only lists the steps that it would carry out.</summary>
    public bool IsWhatIf { get; private set; }

    /// <summary>Lists the steps of the verb from here on instead of carrying them out.</summary>
    public void PlanOnly() => IsWhatIf = true;

    /// <summary>Ends this page where the next one begins.</summary>
    /// <param name="page">Token that requests the next page; null when there is none.</param>
    public void EndPage(string? page) => _nextPage = page;

    /// <summary>
    /// Carries out a change and records its step in the reply. If the request only asks for the plan, runs <paramref name="check"/>
    /// instead.
    /// </summary>
    /// <param name="step">Description of the step, in words.</param>
    /// <param name="work">The work.</param>
    /// <param name="check">Fails where the work would fail; replaces the work if the request only asks for the plan.</param>
    public async Task DoAsync(string step, Func<Task> work, Func<Task>? check = null)
    {
        if (!IsWhatIf)
        {
            await work().ConfigureAwait(false);
        }
        else if (check is not null)
        {
            await check().ConfigureAwait(false);
        }

        _steps.Add(step);
    }

    /// <summary>The same for one object: a failure becomes an error and the next object has its turn.</summary>
    public Task TryDoAsync(string step, Func<Task> work, Func<Task>? check = null) => TryAsync(() => DoAsync(step, work, check));

    /// <summary>Tells more of what was or would be done.</summary>
    public void Tell(IEnumerable<string> more) => _steps.AddRange(more);

    /// <summary>Adds an object.</summary>
    public void Add(TInfo info) => _objects.Add(info);

    /// <summary>Adds several objects.</summary>
    public void Add(IEnumerable<TInfo> infos) => _objects.AddRange(infos);

    /// <summary>Adds objects that are made while the reply is written, behind all others: too many to be in memory. Called at most once.</summary>
    public void Stream(IEnumerable<TInfo> infos) => _stream = infos;

    /// <summary>Adds a remark on something that succeeded.</summary>
    public void Warn(string text) => _warnings.Add(text);

    /// <summary>Adds an error.</summary>
    public void Fail(StorageErrorInfo error) => _errors.Add(error);

    /// <summary>Does the work on one object; its failure becomes an error and the next object has its turn.</summary>
    public async Task TryAsync(Func<Task> work)
    {
        try
        {
            await work().ConfigureAwait(false);
        }
        catch (StorageException e)
        {
            _errors.Add(e.Error);
        }
        catch (ManagementException e)
        {
            _errors.Add(EngineErrors.ToError(e).Error);
        }
        catch (OperationCanceledException)
        {
            throw;
        }
        catch (Exception e)
        {
            HostLog.Write($"unexpected: {e}");
            _errors.Add(new StorageException(StorageErrors.Failed, e.Message).Error);
        }
    }

    /// <summary>Makes the objects. If that fails, the error is in the rest of the reply and the objects end there.</summary>
    private async IAsyncEnumerable<TInfo> ObjectsAsync()
    {
        foreach (TInfo info in _objects)
        {
            yield return info;
        }

        using IEnumerator<TInfo> stream = _stream.GetEnumerator();
        bool hasNext = true;
        while (hasNext)
        {
            hasNext = false;
            await TryAsync(() =>
            {
                hasNext = stream.MoveNext();
                return Task.CompletedTask;
            }).ConfigureAwait(false);
            if (hasNext)
            {
                yield return stream.Current;
            }
        }
    }

    /// <summary>Returns what writes the reply.</summary>
    /// <param name="json">JSON of the reply.</param>
    public ReplyWriter WriterOf(JsonTypeInfo<VerbReply<TInfo>> json) => (output, cancellation) => output.WriteAsync(ObjectsAsync(), Rest, json, cancellation);

    /// <summary>The reply as gathered, without its objects.</summary>
    private VerbReply<TInfo> Rest() =>
        new() { Errors = [.. _errors], Warnings = [.. _warnings], Steps = [.. _steps], NextPage = _nextPage };
}
