namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>Event that a connection waits for before it takes its next request.</summary>
internal enum NbdPause
{
    /// <summary>Nothing: the next request may be taken.</summary>
    None,

    /// <summary>More bytes from the client.</summary>
    ForData,

    /// <summary>The payload of a request that was taken.</summary>
    ForPayload,

    /// <summary>The payload of a refused write, which is thrown away.</summary>
    ForDiscard,

    /// <summary>A slot, memory, or the end of a suspension.</summary>
    ForRoom,

    /// <summary>The turn of the other connections of the lane.</summary>
    ForTurn,

    /// <summary>The connection takes no more requests.</summary>
    AtEnd,
}
