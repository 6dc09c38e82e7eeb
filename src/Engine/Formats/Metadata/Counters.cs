namespace TierSpaces.Engine.Formats;

/// <summary>The next numbers to give out. Written in checkpoints only; elsewhere they follow from the records.</summary>
/// <param name="NextDisk">Number of the next disk.</param>
/// <param name="NextSpace">Number of the next space.</param>
public sealed record Counters(uint NextDisk, uint NextSpace) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.Counters;

    internal override void EncodeBody(ByteWriter to)
    {
        to.U32(NextDisk);
        to.U32(NextSpace);
    }

    internal static MetadataRecord Decode(ref ByteReader from) => new Counters(from.U32(), from.U32());
}
