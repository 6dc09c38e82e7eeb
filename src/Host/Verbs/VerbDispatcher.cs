using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs;

/// <summary>
/// Finds the handler of a verb. Verbs that change state run one after the other, in the order they arrived; the others run beside
/// them and see the state before or after a change, never half of it.
/// </summary>
internal sealed class VerbDispatcher(IEnumerable<IVerbHandler> handlers, SemaphoreSlim changes, params IHostCommand[] commands)
{
    private readonly Dictionary<string, IVerbHandler> _byName =
        handlers.ToDictionary(handler => handler.Verb.Name, StringComparer.OrdinalIgnoreCase);

    /// <summary>The verbs that have a handler.</summary>
    public IEnumerable<VerbDescription> Verbs => _byName.Values.Select(handler => handler.Verb);

    /// <summary>Carries out a verb given and answered as JSON.</summary>
    public async Task<byte[]> RunAsync(string verb, byte[] body, CancellationToken cancellation)
    {
        if (!_byName.TryGetValue(verb, out IVerbHandler? handler))
        {
            return Array.Find(commands, command => command.Name == verb) is { } own
                ? await own.RunAsync(body, cancellation).ConfigureAwait(false) : Unknown(verb);
        }

        if (!handler.Verb.Verb.ChangesState || handler is ILongVerb)
        {
            return await handler.RunAsync(body, cancellation).ConfigureAwait(false);
        }

        await changes.WaitAsync(cancellation).ConfigureAwait(false);
        try
        {
            // Once a change has begun it is carried through, whether or not the caller waits for the answer.
            return await handler.RunAsync(body, CancellationToken.None).ConfigureAwait(false);
        }
        finally
        {
            changes.Release();
        }
    }

    /// <summary>The counters, for Prometheus: what Get-StorageCounter answers for every disk.</summary>
    public async Task<StorageCounterInfo[]> CountersAsync(CancellationToken cancellation)
    {
        byte[] answer = await RunAsync("Get-StorageCounter", "{}"u8.ToArray(), cancellation).ConfigureAwait(false);
        return JsonSerializer.Deserialize(answer, ContractsJson.Default.VerbReplyStorageCounterInfo)!.Objects;
    }

    /// <summary>The write caches, for Prometheus: what Get-VirtualDiskWriteCache answers for every virtual disk.</summary>
    public async Task<VirtualDiskWriteCacheInfo[]> WriteCachesAsync(CancellationToken cancellation)
    {
        byte[] answer = await RunAsync("Get-VirtualDiskWriteCache", "{}"u8.ToArray(), cancellation).ConfigureAwait(false);
        return JsonSerializer.Deserialize(answer, ContractsJson.Default.VerbReplyVirtualDiskWriteCacheInfo)!.Objects;
    }

    /// <summary>The pools, for Prometheus: what Get-StoragePool answers.</summary>
    public async Task<StoragePoolInfo[]> PoolsAsync(CancellationToken cancellation)
    {
        byte[] answer = await RunAsync("Get-StoragePool", "{}"u8.ToArray(), cancellation).ConfigureAwait(false);
        return JsonSerializer.Deserialize(answer, ContractsJson.Default.VerbReplyStoragePoolInfo)!.Objects;
    }

    private static byte[] Unknown(string verb)
    {
        StorageErrorInfo error = new StorageException(StorageErrors.NotSupported, $"This host has no verb '{verb}'.", target: verb).Error;
        return JsonSerializer.SerializeToUtf8Bytes(
            new VerbReply<TierSpacesHostInfo> { Errors = [error] }, ContractsJson.Default.VerbReplyTierSpacesHostInfo);
    }
}
