using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// Contents of a witness file: the session and the members of a superblock. The witness has a vote where the disks that vote are even in number, and is always
/// written.
/// </summary>
/// <param name="Pool">The pool.</param>
/// <param name="Witness">Random id of this file; a file that no view names does not vote.</param>
/// <param name="Session">Highest session promised to.</param>
/// <param name="View">The pool's members.</param>
public sealed record WitnessRecord(PoolId Pool, Guid Witness, ulong Session, PoolView View)
{
    /// <summary>"TSWN".</summary>
    private const uint Magic = 0x4E575354;

    /// <summary>The sessions that the witness took part in.</summary>
    public MemberHistory History { get; init; } = MemberHistory.None;

    /// <summary>Name of the file in the host's state folder.</summary>
    public static string FileName(PoolId pool, Guid witness) => $"witness-{pool.Value:N}-{witness:N}";

    /// <summary>The file's bytes: one block, whose disk id is the witness id.</summary>
    public byte[] Encode()
    {
        ByteWriter body = new(256);
        body.U64(Session);
        View.Encode(body, votesApart: View.MembersVote);
        History.Encode(body);
        if (View.MembersVote)
        {
            View.EncodeVotes(body);
        }

        byte[] block = new byte[PoolBlock.Size];
        new PoolBlock(Pool, new DiskId(Witness), 0).Seal(block, Magic, body.Written);
        return block;
    }

    /// <summary>Reads the file of a witness; null when it is not whole or not that one.</summary>
    public static WitnessRecord? Decode(ReadOnlySpan<byte> bytes, PoolId pool, Guid witness)
    {
        if (bytes.Length != PoolBlock.Size
            || new PoolBlock(pool, new DiskId(witness), 0).Open(bytes, Magic, out ReadOnlySpan<byte> body) != BlockStatus.Intact)
        {
            return null;
        }

        ByteReader from = new(body);
        WitnessRecord read = new(pool, witness, from.U64(), PoolView.Decode(ref from));
        read = from is { Failed: false, Remaining: > 0 } ? read with { History = MemberHistory.Decode(ref from) } : read;   // appended later
        read = from is { Failed: false, Remaining: > 0 } ? read with { View = read.View.DecodeVotes(ref from) } : read;   // appended later
        return from.Failed ? null : read;
    }
}
