namespace TierSpaces.Engine.Primitives;

/// <summary>Layers in which a request of a client spends its time. Of two that a moment belongs to, the later one has it.</summary>
public enum TraceLayer : byte
{
    /// <summary>The whole request, from its receipt to the end of the call in its store. Time that no other layer has is the engine's own.</summary>
    Engine,

    /// <summary>Received, and waiting for memory, for its payload or for its turn.</summary>
    Queue,

    /// <summary>Waiting for the durable mark of a dirty region.</summary>
    Region,

    /// <summary>Waiting for a page of checksums.</summary>
    ChecksumPage,

    /// <summary>A member disk works on a request.</summary>
    MemberDisk,

    /// <summary>Waiting for writes to be made durable.</summary>
    Flush,
}
