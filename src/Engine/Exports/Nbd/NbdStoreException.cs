namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>A store ended a request with an exception: its state is unknown, and no connection contains that.</summary>
/// <param name="cause">Exception that the store threw.</param>
internal sealed class NbdStoreException(Exception cause)
    : Exception($"A store ended a request with an exception; its state is unknown: {cause.Message}", cause);
