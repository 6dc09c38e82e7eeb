namespace TierSpaces.Engine.Primitives;

/// <summary>
/// A request ended with an exception while no store was in the middle of a change. The request has failed, and nothing else has: its
/// caller gets an I/O error. Any other exception that a store ends a request with leaves the state of the store unknown.
/// </summary>
/// <param name="cause">Exception that ended the request.</param>
public sealed class RequestException(Exception cause) : Exception($"A request was given up before a store changed anything: {cause.Message}", cause)
{
    /// <summary>Whether an exception that a layer above the stores meets may end the request alone. A broken rule of the engine ends the process.</summary>
    public static bool MayContain(Exception error) => error is not (InvariantException or RequestException);
}
