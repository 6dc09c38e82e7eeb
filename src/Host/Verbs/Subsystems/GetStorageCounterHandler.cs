using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.Subsystems;

/// <summary>Get-StorageCounter: the counters of virtual and physical disks.</summary>
internal sealed class GetStorageCounterHandler(HostServices services) : VerbHandler<GetStorageCounterRequest, StorageCounterInfo>
{
    /// <summary>Upper bounds of the engine's classes but the last: 2, 4, 8 … microseconds.</summary>
    private static readonly ulong[] s_bounds =
        Enumerable.Range(1, IoCounters.LatencyClasses - 1).Select(power => 1UL << power).ToArray();

    /// <summary>Time between the two readings that rates and averages are made of.</summary>
    private static readonly TimeSpan s_sampleTime = TimeSpan.FromSeconds(1);

    /// <inheritdoc/>
    protected override async Task HandleAsync(
        GetStorageCounterRequest request, ReplyBuilder<StorageCounterInfo> reply, CancellationToken cancellation)
    {
        CounterSet[] sets = SetsOf(request);
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        if (sets.Length > 0)
        {
            HashSet<Guid> disks = [.. all.VirtualDisks.Select(request.VirtualDisk, reply.Fail).Select(static disk => disk.Description.Id.Value)];
            await Task.Delay(s_sampleTime, cancellation).ConfigureAwait(false);
            Catalogue now = await Catalogue.ReadAsync(services).ConfigureAwait(false);
            reply.Add(sets.SelectMany(set => set.Read(all, now, disks)).Select(static sample => new StorageCounterInfo { Sample = sample }));
            return;
        }

        IEnumerable<VirtualDiskStatus> virtualDisks = request.PhysicalDisk is null ? all.VirtualDisks.Select(request.VirtualDisk, reply.Fail) : [];
        IEnumerable<PhysicalDiskStatus> physicalDisks = request.VirtualDisk is null ? all.Disks.Select(request.PhysicalDisk, reply.Fail) : [];
        reply.Add(Of(all, virtualDisks, physicalDisks));
    }

    /// <summary>Returns the counter sets that are asked for; none: the counters of ours.</summary>
    private static CounterSet[] SetsOf(GetStorageCounterRequest request)
    {
        CounterSet[][] found = [.. (request.CounterSet ?? []).Select(name =>
        {
            WildcardPattern pattern = new(name);
            return CounterSets.All.Where(set => pattern.Fits(set.Name) || pattern.Fits(CounterSets.Prefix + set.Name)).ToArray();
        })];
        int unknown = Array.FindIndex(found, static sets => sets.Length == 0);
        return unknown < 0 ? [.. found.SelectMany(static sets => sets).Distinct()]
            : throw new StorageException(
                StorageErrors.InvalidParameter,
                $"-CounterSet '{request.CounterSet![unknown]}': no such counter set. "
                + $"Valid: {string.Join(", ", CounterSets.All.Select(static set => set.Name))}.",
                target: nameof(request.CounterSet));
    }

    /// <summary>Counters of virtual disks, each followed by those of its tiers, then of physical disks.</summary>
    internal static IEnumerable<StorageCounterInfo> Of(
        Catalogue all, IEnumerable<VirtualDiskStatus> virtualDisks, IEnumerable<PhysicalDiskStatus> disks)
    {
        ILookup<Guid?, StorageTierStatus> tiers = all.Tiers.All.ToLookup(static tier => tier.VirtualDisk);
        return virtualDisks.SelectMany(disk => tiers[disk.Description.Id.Value].Select(Describe).Prepend(Describe(disk))).Concat(disks.Select(Describe));
    }

    private static StorageCounterInfo Describe(VirtualDiskStatus disk)
    {
        IoCounters counters = disk.Counters ?? new IoCounters();
        return Describe(counters) with
        {
            ObjectType = "VirtualDisk",
            FriendlyName = disk.Description.FriendlyName,
            UniqueId = Identifiers.OfVirtualDisk(disk.Description.Id.Value),
            MetadataReads = (ulong)(disk.SpaceCounters?.Io.MetadataReads ?? 0),
            MetadataReadBytes = (ulong)(disk.SpaceCounters?.Io.MetadataBytesRead ?? 0),
            MetadataWrites = (ulong)(disk.SpaceCounters?.Io.MetadataWrites ?? 0),
            MetadataWriteBytes = (ulong)(disk.SpaceCounters?.Io.MetadataBytesWritten ?? 0),
            Splits = (ulong)(disk.SpaceCounters?.Io.Splits ?? 0),
            ReadModifyWrites = (ulong)counters.ReadModifyWrites,
            WholeStripeWrites = (ulong)(disk.SpaceCounters?.Parity.WholeStripes ?? 0),
            PartialStripeWrites = (ulong)(disk.SpaceCounters?.Parity.PartialWrites ?? 0),
            ParityJournalWrites = (ulong)(disk.SpaceCounters?.Parity.JournalRecords ?? 0),
            RebuiltBlocks = (ulong)(disk.SpaceCounters?.Parity.BlocksRebuilt ?? 0),
            IntegrityLogSize = BytesOf(disk.SpaceCounters?.Log.Blocks),
            IntegrityLogUsed = BytesOf(disk.SpaceCounters?.Log.BlocksUsed),
            IntegrityLogUsedMax = BytesOf(disk.SpaceCounters?.Log.BlocksUsedMax),
        };
    }

    private static ulong BytesOf(long? blocks) => (ulong)(blocks ?? 0) * SpaceShape.BlockSize;

    private static StorageCounterInfo Describe(StorageTierStatus tier) => Describe(tier.Counters?.Io ?? new IoCounters()) with
    {
        ObjectType = "StorageTier",
        FriendlyName = tier.FriendlyName,
        UniqueId = Identifiers.OfPoolOrDisk(tier.UniqueId),
        FirstWrites = (ulong)(tier.Counters?.FirstWrites ?? 0),
        FirstWriteBytes = (ulong)(tier.Counters?.FirstWriteBytes ?? 0),
        DestagedBytes = (ulong)(tier.Counters?.DestagedBytes ?? 0),
        SlicesAllocated = (ulong)(tier.Counters?.SlicesAllocated ?? 0),
        SlicesMovedIn = (ulong)(tier.Counters?.SlicesMovedIn ?? 0),
        SlicesMovedOut = (ulong)(tier.Counters?.SlicesMovedOut ?? 0),
    };

    private static StorageCounterInfo Describe(PhysicalDiskStatus disk) => Describe(disk.Counters ?? new IoCounters()) with
    {
        ObjectType = "PhysicalDisk",
        FriendlyName = disk.FriendlyName,
        UniqueId = Identifiers.OfPoolOrDisk(disk.UniqueId),
    };

    private static StorageCounterInfo Describe(IoCounters counters) => new()
    {
        Reads = (ulong)(counters.ReadOperations - counters.MetadataReads),
        ReadBytes = (ulong)(counters.ReadBytes - counters.MetadataReadBytes),
        Writes = (ulong)(counters.WriteOperations - counters.MetadataWrites),
        WriteBytes = (ulong)(counters.WriteBytes - counters.MetadataWriteBytes),
        MetadataReads = (ulong)counters.MetadataReads,
        MetadataReadBytes = (ulong)counters.MetadataReadBytes,
        MetadataWrites = (ulong)counters.MetadataWrites,
        MetadataWriteBytes = (ulong)counters.MetadataWriteBytes,
        Flushes = (ulong)counters.FlushOperations,
        Unmaps = (ulong)counters.UnmapOperations,
        UnmapBytes = (ulong)counters.UnmapBytes,
        Errors = (ulong)counters.Errors,
        QueueLength = (ulong)counters.Queue,
        QueueLengthMax = (ulong)counters.QueueMax,
        LatencyBoundsUs = s_bounds,
        ReadLatency = Classes(counters.ReadLatencies),
        WriteLatency = Classes(counters.WriteLatencies),
        FlushLatency = Classes(counters.FlushLatencies),
        LatencyTotalUs = (ulong)(counters.LatencyNsTotal / 1000),
    };

    private static ulong[] Classes(ReadOnlySpan<long> classes)
    {
        ulong[] copy = new ulong[classes.Length];
        for (int i = 0; i < copy.Length; i++)
        {
            copy[i] = (ulong)classes[i];
        }

        return copy;
    }
}
