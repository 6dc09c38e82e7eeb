using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// One block of the metadata journal. Commits are written as groups of whole blocks, and a group counts only with its last
/// block. Sequence s is at block s mod ring length of each disk's ring. The chain is a running checksum over the contents of a
/// block, but not over its place: it is the same on every disk and ties a block to everything before it.
/// </summary>
/// <param name="Session">Session that wrote it.</param>
/// <param name="Sequence">Ever-rising number, from 1.</param>
/// <param name="Durable">Highest sequence known to be durable when it was written.</param>
/// <param name="PreviousChain">Chain of the block before.</param>
/// <param name="Index">Place in its group, from 0.</param>
/// <param name="GroupBlocks">Blocks of the group.</param>
public readonly record struct MetadataBlock(
    ulong Session, ulong Sequence, ulong Durable, uint PreviousChain, ushort Index, ushort GroupBlocks)
{
    /// <summary>"TSMJ".</summary>
    internal const uint Magic = 0x4A4D5354;

    /// <summary>Most bytes of records in a block.</summary>
    public const int PayloadCapacity = PoolBlock.BodyCapacity - HeaderBytes;

    private const int HeaderBytes = 36;

    /// <summary>Layout of the body, for the documentation; offsets count from the start of the block.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (56, 8, "session"), (64, 8, "sequence"), (72, 8, "sequence known durable"), (80, 4, "chain of the block before"),
        (84, 4, "chain: CRC32C, seeded with the chain before, of session, sequence, index, blocks and payload"),
        (88, 2, "index in the group"), (90, 2, "blocks of the group"), (92, 4004, "payload: bytes of records"),
    ];

    /// <summary>Whether the group ends here.</summary>
    public bool IsLast => Index == GroupBlocks - 1;

    /// <summary>Running checksum with this block.</summary>
    public uint Chain(ReadOnlySpan<byte> payload)
    {
        ByteWriter fields = new(32);
        fields.U64(Session);
        fields.U64(Sequence);
        fields.U16(Index);
        fields.U16(GroupBlocks);
        return Crc32c.Compute(payload, Crc32c.Compute(fields.Written, PreviousChain));
    }

    /// <summary>Writes the block for one disk.</summary>
    public void Encode(Span<byte> block, PoolBlock place, ReadOnlySpan<byte> payload)
    {
        ByteWriter body = new(PoolBlock.BodyCapacity);
        body.U64(Session);
        body.U64(Sequence);
        body.U64(Durable);
        body.U32(PreviousChain);
        body.U32(Chain(payload));
        body.U16(Index);
        body.U16(GroupBlocks);
        body.Raw(payload);
        place.Seal(block, Magic, body.Written);
    }

    /// <summary>Reads a block from its place; false when there is none of this pool and disk, whole and consistent.</summary>
    public static bool TryDecode(
        ReadOnlySpan<byte> block, PoolBlock place, out MetadataBlock header, out uint chain, out ReadOnlySpan<byte> payload)
    {
        header = default;
        chain = 0;
        payload = default;
        if (place.Open(block, Magic, out ReadOnlySpan<byte> bytes) != BlockStatus.Intact)
        {
            return false;
        }

        ByteReader body = new(bytes);
        ulong session = body.U64();
        ulong sequence = body.U64();
        ulong durable = body.U64();
        uint previous = body.U32();
        chain = body.U32();
        header = new MetadataBlock(session, sequence, durable, previous, body.U16(), body.U16());
        payload = body.Take(body.Remaining);
        return !body.Failed && sequence > 0 && durable < sequence && header.Index < header.GroupBlocks && header.Chain(payload) == chain;
    }
}
