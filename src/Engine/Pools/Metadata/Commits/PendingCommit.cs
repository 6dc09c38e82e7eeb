using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

/// <summary>Records that a caller waits for.</summary>
/// <param name="records">The records, applied all or none.</param>
/// <param name="done">Called once, with how the commit ended.</param>
internal sealed class PendingCommit(MetadataRecord[] records, Action<CommitResult> done)
{
    private byte[]? _bytes;

    internal MetadataRecord[] Records { get; } = records;

    internal Action<CommitResult> Done { get; } = done;

    /// <summary>The records as the journal holds them.</summary>
    internal byte[] Bytes => _bytes ??= Encode(Records);

    private static byte[] Encode(MetadataRecord[] records)
    {
        ByteWriter to = new(1024);
        foreach (MetadataRecord record in records)
        {
            MetadataCodec.Encode(record, to);
        }

        return to.Written.ToArray();
    }
}
