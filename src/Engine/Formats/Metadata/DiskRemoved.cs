using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>A disk without slabs in use has left the pool for good.</summary>
public sealed record DiskRemoved(DiskNumber Disk) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.DiskRemoved;

    internal override void EncodeBody(ByteWriter to) => to.U16(Disk.Value);

    internal static MetadataRecord Decode(ref ByteReader from) => new DiskRemoved(new DiskNumber(from.U16()));
}
