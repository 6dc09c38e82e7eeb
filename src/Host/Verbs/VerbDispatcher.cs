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

    /// <summary>Carries out a verb given as JSON; what it returns writes the reply as JSON.</summary>
    public async Task<ReplyWriter> RunAsync(string verb, byte[] body, CancellationToken cancellation)
    {
        if (!_byName.TryGetValue(verb, out IVerbHandler? handler))
        {
            return Array.Find(commands, command => command.Name == verb) is { } own
                ? WriterOf(await own.RunAsync(body, cancellation).ConfigureAwait(false)) : Unknown(verb);
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

    private static ReplyWriter WriterOf(byte[] reply) => (output, cancellation) => output.WriteAsync(reply, cancellation);

    private static ReplyWriter Unknown(string verb)
    {
        ReplyBuilder<TierSpacesHostInfo> reply = new ReplyBuilder<TierSpacesHostInfo>();
        reply.Fail(new StorageException(StorageErrors.NotSupported, $"This host has no verb '{verb}'.", target: verb).Error);
        return reply.WriterOf(ContractsJson.Default.VerbReplyTierSpacesHostInfo);
    }
}
