namespace TierSpaces.Engine.Formats;

/// <summary>A tier template is gone; virtual disks that were made of it stay as they are.</summary>
public sealed record TierTemplateRemoved(Guid Template) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.TierTemplateRemoved;

    internal override void EncodeBody(ByteWriter to) => to.Guid(Template);

    internal static MetadataRecord Decode(ref ByteReader from) => new TierTemplateRemoved(from.Guid());
}
