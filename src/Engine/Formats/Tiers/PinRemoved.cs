namespace TierSpaces.Engine.Formats;

/// <summary>A pin is no more, with all its parts.</summary>
public sealed record PinRemoved(Guid Id) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.PinRemoved;

    internal override void EncodeBody(ByteWriter to) => to.Guid(Id);

    internal static MetadataRecord Decode(ref ByteReader from) => new PinRemoved(from.Guid());
}
