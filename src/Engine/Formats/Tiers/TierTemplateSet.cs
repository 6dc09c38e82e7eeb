namespace TierSpaces.Engine.Formats;

/// <summary>A tier template, whole, as it is from now on.</summary>
public sealed record TierTemplateSet(TierTemplate Template) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.TierTemplateSet;

    internal override void EncodeBody(ByteWriter to) => Template.Encode(to);

    internal static MetadataRecord Decode(ref ByteReader from) => new TierTemplateSet(TierTemplate.Decode(ref from));
}
