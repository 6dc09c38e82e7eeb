using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs;

/// <summary>
/// Carries out one verb. A handler resolves selectors, calls the engine, and maps what it answers; it decides nothing.
/// </summary>
internal interface IVerbHandler
{
    /// <summary>The verb.</summary>
    VerbDescription Verb { get; }

    /// <summary>Carries out a request given as JSON.</summary>
    /// <param name="body">The request as UTF-8 JSON.</param>
    /// <param name="cancellation">The caller went away.</param>
    /// <returns>Writes a <see cref="VerbReply{TInfo}"/>. The verb has ended: a caller that reads slowly holds up no other verb.</returns>
    Task<ReplyWriter> RunAsync(byte[] body, CancellationToken cancellation);
}
