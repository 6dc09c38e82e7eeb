namespace TierSpaces.Engine.Formats;

/// <summary>Frames metadata records and reads them back. Pure; input is not trusted.</summary>
public static class MetadataCodec
{
    /// <summary>Newest version of a record that this release knows.</summary>
    private const byte NewestVersion = 2;

    /// <summary>A release that does not know the record may ignore it.</summary>
    private const byte Skippable = 1;

    private delegate MetadataRecord Decoder(ref ByteReader from);

    private static readonly Dictionary<RecordKind, Decoder> s_decoders = new()
    {
        [RecordKind.PoolCreated] = PoolCreated.Decode,
        [RecordKind.PoolChanged] = PoolChanged.Decode,
        [RecordKind.Counters] = Counters.Decode,
        [RecordKind.DiskAdded] = DiskAdded.Decode,
        [RecordKind.DiskChanged] = DiskChanged.Decode,
        [RecordKind.DiskRemoved] = DiskRemoved.Decode,
        [RecordKind.DiskHeld] = DiskHeld.Decode,
        [RecordKind.VirtualDiskCreated] = VirtualDiskCreated.Decode,
        [RecordKind.VirtualDiskChanged] = VirtualDiskChanged.Decode,
        [RecordKind.VirtualDiskRemoved] = VirtualDiskRemoved.Decode,
        [RecordKind.SpaceCreated] = SpaceCreated.Decode,
        [RecordKind.SpaceRemoved] = SpaceRemoved.Decode,
        [RecordKind.RowsMapped] = RowsMapped.Decode,
        [RecordKind.RowsFreed] = RowsFreed.Decode,
        [RecordKind.StaleMarked] = StaleMarked.Decode,
        [RecordKind.StaleCleared] = StaleCleared.Decode,
        [RecordKind.DiskStale] = DiskStale.Decode,
        [RecordKind.Job] = JobRecord.Decode,
        [RecordKind.SessionOpened] = SessionOpened.Decode,
        [RecordKind.TierTemplateSet] = TierTemplateSet.Decode,
        [RecordKind.TierTemplateRemoved] = TierTemplateRemoved.Decode,
        [RecordKind.SlicesMapped] = SlicesMapped.Decode,
        [RecordKind.PinSet] = PinSet.Decode,
        [RecordKind.PinRemoved] = PinRemoved.Decode,
    };

    /// <summary>Appends a record with its frame.</summary>
    public static void Encode(MetadataRecord record, ByteWriter to)
    {
        to.U16((ushort)record.Kind);
        to.U8(record.Version);
        to.U8(record.IsSkippable ? Skippable : (byte)0);
        int lengthAt = to.Length;
        to.U32(0);
        record.EncodeBody(to);
        to.PatchU32(lengthAt, (uint)(to.Length - lengthAt - 4));
    }

    /// <summary>Bytes of a record with its frame.</summary>
    public static int Measure(MetadataRecord record)
    {
        ByteWriter to = new();
        Encode(record, to);
        return to.Length;
    }

    /// <summary>Appends every record of <paramref name="bytes"/> to <paramref name="records"/>, or says what is wrong with them.</summary>
    public static bool TryDecodeAll(ReadOnlySpan<byte> bytes, List<MetadataRecord> records, out string reason)
    {
        ByteReader from = new(bytes);
        while (from.Remaining > 0)
        {
            if (!TryDecode(ref from, out MetadataRecord? record, out reason))
            {
                return false;
            }

            if (record is not null)
            {
                records.Add(record);
            }
        }

        reason = "";
        return true;
    }

    private static bool TryDecode(ref ByteReader from, out MetadataRecord? record, out string reason)
    {
        RecordKind kind = (RecordKind)from.U16();
        byte version = from.U8();
        bool skippable = (from.U8() & Skippable) != 0;
        ByteReader body = new(from.Take(from.Count(1)));
        record = null;
        reason = from.Failed ? "A metadata record is cut short." : "";
        if (from.Failed)
        {
            return false;
        }

        if (version is 0 or > NewestVersion || !s_decoders.TryGetValue(kind, out Decoder? decoder))
        {
            reason = $"Metadata record of kind {(ushort)kind} version {version} is not known to this release.";
            return skippable;
        }

        record = decoder(ref body);
        reason = body.Failed ? $"A metadata record of kind {kind} does not hold what it must." : "";
        return !body.Failed;
    }
}
