namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>
/// Limits on the resources that clients of one server may hold. Every resource that a client can make the server keep has a limit
/// here.
/// </summary>
public sealed record NbdLimits
{
    /// <summary>Largest payload of one request, in bytes; also the announced maximum block size.</summary>
    public const int MaxPayload = 32 << 20;

    /// <summary>Largest data of one option, in bytes; names end at 4096 by the protocol.</summary>
    public const int MaxOptionData = 8 << 10;

    /// <summary>Options a client may send before it enters transmission.</summary>
    public const int MaxOptions = 256;

    /// <summary>Connections of one server, 1 or more.</summary>
    public int MaxConnections { get; init; } = 64;

    /// <summary>Requests of one connection between receipt and the end of their reply, 1 to 500.</summary>
    public int MaxRequests { get; init; } = 256;

    /// <summary>Payload one connection may hold, in bytes, from <see cref="MaxPayload"/> to 1 GiB.</summary>
    public long MaxConnectionBytes { get; init; } = 2L * MaxPayload;

    /// <summary>Time from accepting a connection to its first possible request, in nanoseconds.</summary>
    public long HandshakeTimeoutNs { get; init; } = 30_000_000_000;

    /// <summary>
    /// Time, in nanoseconds, after which a connection is ended that holds payload memory without taking a reply or moving 64 KiB, while
    /// others wait for memory. A connection that holds up no other may be silent for ever.
    /// </summary>
    public long StallTimeoutNs { get; init; } = 5_000_000_000;

    /// <summary>Time a client has to take its last replies once the connection is being ended, in nanoseconds.</summary>
    public long DrainTimeoutNs { get; init; } = 10_000_000_000;

    /// <exception cref="ArgumentOutOfRangeException">A limit is outside its range.</exception>
    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxConnections, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxRequests, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(MaxRequests, 500);
        ArgumentOutOfRangeException.ThrowIfLessThan(MaxConnectionBytes, MaxPayload);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(MaxConnectionBytes, 1L << 30);
        ArgumentOutOfRangeException.ThrowIfLessThan(HandshakeTimeoutNs, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(StallTimeoutNs, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(DrainTimeoutNs, 1);
    }
}
