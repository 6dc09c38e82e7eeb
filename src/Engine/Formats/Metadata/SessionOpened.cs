namespace TierSpaces.Engine.Formats;

/// <summary>A host has opened the pool. The first record of every session, committed before anything is served.</summary>
/// <param name="Session">Number of the session, above every one before it.</param>
/// <param name="Node">Identity of the host.</param>
/// <param name="FencingToken">Random number of this opening.</param>
/// <param name="UtcTicks">Time of the opening, in 100 ns ticks of UTC.</param>
public sealed record SessionOpened(ulong Session, Guid Node, ulong FencingToken, long UtcTicks) : MetadataRecord
{
    internal override RecordKind Kind => RecordKind.SessionOpened;

    internal override void EncodeBody(ByteWriter to)
    {
        to.U64(Session);
        to.Guid(Node);
        to.U64(FencingToken);
        to.I64(UtcTicks);
    }

    internal static MetadataRecord Decode(ref ByteReader from) =>
        new SessionOpened(from.U64(), from.Guid(), from.U64(), from.I64());
}
