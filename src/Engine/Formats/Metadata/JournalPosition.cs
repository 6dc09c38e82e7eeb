namespace TierSpaces.Engine.Formats;

/// <summary>A point in the metadata journal: after this block and everything before it.</summary>
/// <param name="Sequence">Sequence of the last block; 0 before the first.</param>
/// <param name="Session">Session that wrote it.</param>
/// <param name="Chain">Running checksum up to and with it.</param>
public readonly record struct JournalPosition(ulong Sequence, ulong Session, uint Chain)
{
    internal void Encode(ByteWriter to)
    {
        to.U64(Sequence);
        to.U64(Session);
        to.U32(Chain);
    }

    internal static JournalPosition Decode(ref ByteReader from) => new(from.U64(), from.U64(), from.U32());
}

/// <summary>Root of a checkpoint of the state on one disk.</summary>
/// <param name="Generation">Ever-rising number on this disk; 0 for none.</param>
/// <param name="RootPage">Page of the heap that holds the root.</param>
/// <param name="Position">The journal up to here is in it.</param>
public readonly record struct CheckpointRoot(ulong Generation, uint RootPage, JournalPosition Position)
{
    internal void Encode(ByteWriter to)
    {
        to.U64(Generation);
        to.U32(RootPage);
        Position.Encode(to);
    }

    internal static CheckpointRoot Decode(ref ByteReader from) => new(from.U64(), from.U32(), JournalPosition.Decode(ref from));
}
