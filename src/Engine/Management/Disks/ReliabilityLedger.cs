using System.Buffers.Binary;
using System.Text.Json;
using System.Text.Json.Serialization;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Errors and longest requests of a physical disk since its counters began, over all restarts of this host.</summary>
public sealed record DiskReliability
{
    /// <summary>Reads that the device failed.</summary>
    public long ReadErrors { get; init; }

    /// <summary>Writes that the device failed.</summary>
    public long WriteErrors { get; init; }

    /// <summary>Flushes that the device failed.</summary>
    public long FlushErrors { get; init; }

    /// <summary>Blocks and metadata sectors that were read and were not what their checksum says.</summary>
    public long ChecksumMismatches { get; init; }

    /// <summary>Blocks that were wrong or unreadable and have been rewritten from another copy.</summary>
    public long BlocksHealed { get; init; }

    /// <summary>Wrong or unreadable blocks that no copy could give; each counts once until it is rewritten.</summary>
    public long BlocksLost { get; init; }

    /// <summary>Whether it has had so many errors within a short time that it is expected to fail.</summary>
    public bool IsPastThreshold { get; init; }

    /// <summary>Longest read, in nanoseconds.</summary>
    public long ReadNsMax { get; init; }

    /// <summary>Longest write, in nanoseconds.</summary>
    public long WriteNsMax { get; init; }

    /// <summary>Longest flush, in nanoseconds.</summary>
    public long FlushNsMax { get; init; }
}

/// <summary>
/// Reliability counters per disk, kept in the host's state folder: history of this machine, never truth about a pool. A counter is the value in
/// the file plus the count of the open device since then; a reopened device goes on from there.
/// </summary>
internal sealed class ReliabilityLedger(StateFolder state)
{
    private const string FileName = "reliability";

    private readonly Dictionary<Guid, Entry> _disks = [];
    private byte[] _saved = [];

    /// <summary>Reads the file; a damaged one counts as none. Returns what is wrong with it, or nothing.</summary>
    internal async LaneTask<string> Load()
    {
        if (await state.ReadFile(FileName) is not { } content)
        {
            return "";
        }

        try
        {
            if (content.Length > 4 && BinaryPrimitives.ReadUInt32LittleEndian(content) == Crc32c.Compute(content.AsSpan(4))
                && JsonSerializer.Deserialize(content.AsSpan(4), ReliabilityJson.Default.DictionaryGuidDiskReliability) is { } disks)
            {
                foreach ((Guid disk, DiskReliability counted) in disks)
                {
                    _disks[disk] = new Entry { Base = counted };
                }

                return "";
            }
        }
        catch (JsonException)
        {
            // Said below.
        }

        return "The reliability counters of the disks cannot be read and begin at zero.";
    }

    /// <summary>Writes the file when something has changed.</summary>
    /// <exception cref="IOException">It could not be made durable, or not in time.</exception>
    internal async LaneTask<Nothing> Save()
    {
        byte[] json = JsonSerializer.SerializeToUtf8Bytes(
            Copy(), ReliabilityJson.Default.DictionaryGuidDiskReliability);
        if (json.AsSpan().SequenceEqual(_saved))
        {
            return default;
        }

        byte[] content = new byte[json.Length + 4];
        json.CopyTo(content, 4);
        BinaryPrimitives.WriteUInt32LittleEndian(content, Crc32c.Compute(json));
        await state.WriteFile(FileName, content);
        _saved = json;
        return default;
    }

    /// <summary>From now on the counters of this device, its handles included, are the disk's.</summary>
    internal void Observe(Guid disk, MeteredDisk device)
    {
        Entry entry = EntryOf(disk);
        if (entry.Device != device)
        {
            entry.Base = entry.Total;
            entry.Device = device;
            entry.Ignored = new DiskReliability();
        }
    }

    /// <summary>A space has found something out about the disk.</summary>
    internal void Note(Guid disk, DiskFinding finding, long count)
    {
        Entry entry = EntryOf(disk);
        entry.Base = finding switch
        {
            DiskFinding.Healed => entry.Base with { BlocksHealed = entry.Base.BlocksHealed + count },
            DiskFinding.Lost => entry.Base with { BlocksLost = entry.Base.BlocksLost + count },
            _ => entry.Base with { ChecksumMismatches = entry.Base.ChecksumMismatches + count },
        };
    }

    /// <summary>The counters of a disk; zeros when nothing is known of it.</summary>
    internal DiskReliability Of(Guid disk) => _disks.TryGetValue(disk, out Entry? entry) ? entry.Total : new DiskReliability();

    /// <summary>Returns the counters of all disks.</summary>
    internal Dictionary<Guid, DiskReliability> Copy() => _disks.ToDictionary(static disk => disk.Key, static disk => disk.Value.Total);

    /// <summary>The disks that are expected to fail.</summary>
    internal IEnumerable<Guid> PastThreshold => _disks.Where(static disk => disk.Value.Base.IsPastThreshold).Select(static disk => disk.Key);

    /// <summary>Remembers that a disk is, or is not, expected to fail.</summary>
    internal void SetPastThreshold(Guid disk, bool isPast)
    {
        Entry entry = EntryOf(disk);
        entry.Base = entry.Base with { IsPastThreshold = isPast };
    }

    /// <summary>Lets the counters of a disk begin at zero.</summary>
    internal void Reset(Guid disk)
    {
        Entry entry = EntryOf(disk);
        entry.Base = new DiskReliability();
        entry.Ignored = entry.Device is { } device ? ErrorsOf(device.TotalCounters()) : new DiskReliability();
        entry.Device?.ForgetLongest();
    }

    private Entry EntryOf(Guid disk)
    {
        if (!_disks.TryGetValue(disk, out Entry? entry))
        {
            _disks[disk] = entry = new Entry();
        }

        return entry;
    }

    private static DiskReliability ErrorsOf(IoCounters counters) => new()
    {
        ReadErrors = counters.ReadErrors, WriteErrors = counters.WriteErrors, FlushErrors = counters.FlushErrors,
    };

    private sealed class Entry
    {
        internal DiskReliability Base { get; set; } = new();

        /// <summary>The device as it is open now.</summary>
        internal MeteredDisk? Device { get; set; }

        /// <summary>Errors of that device from before the last reset.</summary>
        internal DiskReliability Ignored { get; set; } = new();

        internal DiskReliability Total => Device?.TotalCounters() is not { } device ? Base : Base with
        {
            ReadErrors = Base.ReadErrors + device.ReadErrors - Ignored.ReadErrors,
            WriteErrors = Base.WriteErrors + device.WriteErrors - Ignored.WriteErrors,
            FlushErrors = Base.FlushErrors + device.FlushErrors - Ignored.FlushErrors,
            ReadNsMax = Math.Max(Base.ReadNsMax, device.ReadNsMax),
            WriteNsMax = Math.Max(Base.WriteNsMax, device.WriteNsMax),
            FlushNsMax = Math.Max(Base.FlushNsMax, device.FlushNsMax),
        };
    }
}

/// <summary>JSON format of the counters.</summary>
[JsonSerializable(typeof(Dictionary<Guid, DiskReliability>))]
internal sealed partial class ReliabilityJson : JsonSerializerContext;
