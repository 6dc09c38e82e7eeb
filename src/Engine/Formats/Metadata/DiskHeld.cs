using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// The least that a disk held when it left the view. A disk that comes back with less has lost writes that it confirmed. The record is
/// removed, by one of epoch 0, when the disk is a member again. A release that does not know the record ignores it.
/// </summary>
/// <param name="Disk">The disk.</param>
/// <param name="Last">The newest session that had taken effect on it; session 0 if that is not known.</param>
/// <param name="Epoch">Epoch of its newest superblock; 0 removes the record.</param>
/// <param name="Sequence">End of the metadata journal that it held; 0 if it is not known to hold any.</param>
/// <param name="Chain">Running checksum of the journal at that end.</param>
public sealed record DiskHeld(DiskNumber Disk, SessionToken Last, ulong Epoch, ulong Sequence, uint Chain) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.DiskHeld;

    internal override bool IsSkippable => true;

    /// <summary>The record that removes what is known of a disk.</summary>
    internal static DiskHeld Nothing(DiskNumber disk) => new(disk, default, 0, 0, 0);

    internal override void EncodeBody(ByteWriter to)
    {
        to.U16(Disk.Value);
        Last.Encode(to);
        to.U64(Epoch);
        to.U64(Sequence);
        to.U32(Chain);
    }

    internal static MetadataRecord Decode(ref ByteReader from) =>
        new DiskHeld(new DiskNumber(from.U16()), SessionToken.Decode(ref from), from.U64(), from.U64(), from.U32());
}
