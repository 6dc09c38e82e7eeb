using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>Whether the host that wrote a lease block serves the pool.</summary>
public enum LeaseState : byte
{
    /// <summary>It serves the pool, or did when it stopped without closing it.</summary>
    Serving = 1,

    /// <summary>It has closed the pool: nothing of it is under way.</summary>
    Closed = 2,
}

/// <summary>The host that holds a pool, or asks for it.</summary>
/// <param name="Node">Identity of the host program's state folder.</param>
/// <param name="Boot">Identity of the running kernel: another one says that the machine has started again since.</param>
/// <param name="Name">Name of the machine, for people, at most <see cref="NameMax"/> characters.</param>
public sealed record HostIdentity(Guid Node, Guid Boot, string Name)
{
    /// <summary>Most characters of a name.</summary>
    public const int NameMax = 64;
}

/// <summary>
/// The record of the host that holds a pool, on each member. Session s writes block s mod <see cref="LeaseArea.Blocks"/> of the area and no other, so that a
/// late write of an earlier session cannot pass for a later one. It ends within the first 512 bytes of its block: a device that writes sectors of 512
/// bytes does not tear it.
/// </summary>
/// <param name="Session">The session and its random number.</param>
/// <param name="Host">The host.</param>
/// <param name="Counter">Rises with every renewal.</param>
/// <param name="UtcTicks">Time of the renewal on the wall clock of that host, for people.</param>
/// <param name="State">Whether it serves.</param>
/// <param name="ClaimsHash">Hash of the claims on this disk, as the host has last read them (<see cref="LeaseArea.ClaimsHash"/>).</param>
public sealed record LeaseBlock(SessionToken Session, HostIdentity Host, ulong Counter, long UtcTicks, LeaseState State, ulong ClaimsHash)
{
    /// <summary>"TSLS".</summary>
    internal const uint Magic = 0x534C5354;

    /// <summary>Layout of the body, for the documentation; offsets count from the start of the block.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (56, 16, "session: number (8), token (8)"), (72, 16, "node"), (88, 16, "boot"), (104, 8, "counter"), (112, 8, "wall clock, ticks of UTC"),
        (120, 1, "state: 1 serving, 2 closed"), (121, 8, "hash of the claims on this disk"), (129, 0, "host name"),
    ];

    internal void Encode(Span<byte> block, in PoolBlock place)
    {
        ByteWriter body = new(256);
        Session.Encode(body);
        body.Guid(Host.Node);
        body.Guid(Host.Boot);
        body.U64(Counter);
        body.I64(UtcTicks);
        body.U8((byte)State);
        body.U64(ClaimsHash);
        body.Text(Host.Name);
        place.Seal(block, Magic, body.Written);
    }

    /// <summary>Reads a block; null where there is none, or none that is whole.</summary>
    internal static LeaseBlock? Decode(ReadOnlySpan<byte> block, in PoolBlock place)
    {
        if (place.Open(block, Magic, out ReadOnlySpan<byte> bytes) != BlockStatus.Intact)
        {
            return null;
        }

        ByteReader body = new(bytes);
        SessionToken session = SessionToken.Decode(ref body);
        Guid node = body.Guid();
        Guid boot = body.Guid();
        LeaseBlock read = new(session, new HostIdentity(node, boot, ""), body.U64(), body.I64(), (LeaseState)body.U8(), body.U64());
        read = read with { Host = read.Host with { Name = body.Text() } };
        return body.Failed || !Enum.IsDefined(read.State) ? null : read;
    }
}

/// <summary>The record of a host that asks for a pool, before it holds it.</summary>
/// <param name="Session">The session that it would open, and its random number.</param>
/// <param name="Node">Identity of the host.</param>
public sealed record LeaseClaim(SessionToken Session, Guid Node)
{
    /// <summary>"TSLC".</summary>
    internal const uint Magic = 0x434C5354;

    /// <summary>Layout of the body, for the documentation; offsets count from the start of the block.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout = [(56, 16, "session: number (8), token (8)"), (72, 16, "node")];

    internal void Encode(Span<byte> block, in PoolBlock place)
    {
        ByteWriter body = new(64);
        Session.Encode(body);
        body.Guid(Node);
        place.Seal(block, Magic, body.Written);
    }

    /// <summary>Reads a claim; null where there is none, or none that is whole.</summary>
    internal static LeaseClaim? Decode(ReadOnlySpan<byte> block, in PoolBlock place)
    {
        if (place.Open(block, Magic, out ReadOnlySpan<byte> bytes) != BlockStatus.Intact)
        {
            return null;
        }

        ByteReader body = new(bytes);
        LeaseClaim read = new(SessionToken.Decode(ref body), body.Guid());
        return body.Failed ? null : read;
    }
}
