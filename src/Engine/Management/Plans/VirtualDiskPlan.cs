using System.Numerics;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Request for a new virtual disk. If a property is null, the plan decides it.</summary>
public sealed record VirtualDiskRequest
{
    /// <summary>Name.</summary>
    public required string FriendlyName { get; init; }

    /// <summary>Identifier, for a caller that has to know it before there is a virtual disk; null: a new one.</summary>
    public Guid? Id { get; init; }

    /// <summary>Simple, Mirror or Parity.</summary>
    public string? ResiliencySettingName { get; init; }

    /// <summary>Size in bytes; null with <see cref="UseMaximumSize"/>.</summary>
    public long? SizeBytes { get; init; }

    /// <summary>As large as the pool allows.</summary>
    public bool UseMaximumSize { get; init; }

    /// <summary>Columns.</summary>
    public int? NumberOfColumns { get; init; }

    /// <summary>As many columns as the disks allow, at most 8, whatever the pool's default is.</summary>
    public bool AutoNumberOfColumns { get; init; }

    /// <summary>Copies.</summary>
    public int? NumberOfDataCopies { get; init; }

    /// <summary>Disks that may fail.</summary>
    public int? PhysicalDiskRedundancy { get; init; }

    /// <summary>Bytes of a strip.</summary>
    public long? Interleave { get; init; }

    /// <summary>Logical sector.</summary>
    public int? LogicalSectorSize { get; init; }

    /// <summary>Provisioning.</summary>
    public ProvisioningType? ProvisioningType { get; init; }

    /// <summary>Checksums.</summary>
    public ChecksumKind Checksum { get; init; } = ChecksumKind.CRC32C;

    /// <summary>Medium, or null for any.</summary>
    public MediaType? MediaType { get; init; }

    /// <summary>Level of the fault domains that hold the copies.</summary>
    public FaultDomainLevel? FaultDomainAwareness { get; init; }

    /// <summary>Level of the fault domains that no two columns share.</summary>
    public FaultDomainLevel? ColumnIsolation { get; init; }

    /// <summary>Its tiers, of different media; empty for a disk without. Their sizes are its size.</summary>
    public IReadOnlyList<TierRequest> Tiers { get; init; } = [];

    /// <summary>Bytes of a slice of a disk with tiers.</summary>
    public long? SliceSize { get; init; }

    /// <summary>Size of one copy of the write cache in bytes, rounded up to whole slabs; 0: none.</summary>
    public long? WriteCacheSize { get; init; }

    /// <summary>A write cache of the size that the pool chooses, whatever its default is.</summary>
    public bool AutoWriteCacheSize { get; init; }

    /// <summary>Pool that the write cache is to be in; null: the pool of the disk.</summary>
    public Guid? CachePool { get; init; }

    /// <summary>The only disks it may use; empty: all.</summary>
    public IReadOnlyList<Guid> PhysicalDisks { get; init; } = [];

    /// <summary>Whether it stays detached at start.</summary>
    public bool IsManualAttach { get; init; }

    /// <summary>Usage as Windows numbers it.</summary>
    public ushort Usage { get; init; } = 1;

    /// <summary>Usage in words.</summary>
    public string OtherUsageDescription { get; init; } = "";
}

/// <summary>
/// Turns a request into a specification: fills in open properties from the pool's defaults and disks. An impossible request is a validation error that names
/// parameter, value, range and the number of disks needed. Changes nothing.
/// </summary>
/// <param name="pool">The pool of the disk.</param>
/// <param name="request">Request for the virtual disk.</param>
/// <param name="cachePool">The other pool that its write cache is to be in; null: its own.</param>
internal sealed class VirtualDiskPlan(IPoolReader pool, VirtualDiskRequest request, IPoolReader? cachePool = null)
{
    internal const int AutoColumnsMax = 8;

    private readonly List<string> _remarks = [];
    private readonly FaultDomainPlan _domains = new(pool, request);

    private PoolState State => pool.State;

    /// <summary>Remarks on the decisions of the plan, for the user.</summary>
    internal IReadOnlyList<string> Remarks => _remarks;

    internal VirtualDiskDescription Decide()
    {
        CheckName();
        return request.Tiers.Count > 0 ? DecideTiers() : DecideWhole();
    }

    private VirtualDiskDescription DecideWhole()
    {
        LayoutRequest layoutRequest = new(request.ResiliencySettingName, request.NumberOfDataCopies, request.PhysicalDiskRedundancy);
        string layout = layoutRequest.DecideName(State);
        int copies = layoutRequest.DecideCopies(State, layout);
        DiskNumber[] disks = UsableDisks(request.MediaType);
        int parities = layoutRequest.DecideParities(State, layout);
        LayoutRequest.RequireChecksums(layout, request.Checksum);
        DomainLevels levels = _domains.Decide(layout, copies > 1 || parities > 0);
        int columns = parities > 0
            ? new ParityColumns(State, _domains, request.AutoNumberOfColumns, _remarks.Add) { Owner = $"Virtual disk '{request.FriendlyName}'" }
                .Decide(request.NumberOfColumns, parities, disks, levels)
            : Columns(layout, copies, disks, levels);
        uint interleave = LayoutRequest.DecideInterleave(State, request.Interleave, layout, parities);
        VirtualDiskDescription spec = Specify(layout, columns, copies, interleave) with
        {
            PhysicalDiskRedundancy = (ushort)(copies - 1 + parities),
            MediaTypeCode = (ushort)(request.MediaType ?? MediaType.Unspecified),
            FaultDomainAwareness = levels.Awareness,
            ColumnIsolation = levels.Isolation,
            AllowedDisks = request.PhysicalDisks.Count > 0 ? [.. disks] : [],
        };
        spec = spec with { WriteCacheSize = CacheSize(spec, RowsWanted(spec), disks) };
        RemarkOnVotes(spec);
        return spec with { SizeBytes = Size(spec) };
    }

    private VirtualDiskDescription DecideTiers()
    {
        TieredDiskPlan plan = new(pool, request, medium => UsableDisks(medium)) { Remark = _remarks.Add };
        VirtualDiskDescription spec = SpecifyTiers(plan, plan.Named());
        DiskNumber[] disks = [.. spec.Tiers.SelectMany(tier => UsableDisks(tier.Media()))];
        long rows = spec.ProvisioningType == ProvisioningType.Fixed ? 1 : 0;
        spec = spec with { WriteCacheSize = CacheSize(spec, rows, disks) };
        plan.RequireRoom(spec);
        RemarkOnVotes(spec);
        return spec;
    }

    private void RemarkOnVotes(VirtualDiskDescription spec)
    {
        string warning = _domains.WarningOfVotes(spec.FriendlyName, spec.Parts.Max(static part => part.FaultDomainAwareness));
        _remarks.AddRange(warning.Length > 0 ? [warning] : []);
    }

    private long CacheSize(VirtualDiskDescription spec, long rows, DiskNumber[] disks) => cachePool is not null
        ? new RemoteCachePlan(cachePool, _remarks.Add).Decide(pool, request, spec) : new WriteCachePlan(pool, request, _remarks.Add).Decide(spec, rows, disks);

    // Properties that all tiers share are set on the disk too; where tiers differ, columns and strip are 0 and the layout has no name.
    private VirtualDiskDescription SpecifyTiers(TieredDiskPlan plan, List<(TierTemplate Template, long SizeBytes)> templates)
    {
        List<TierDescription> tiers = plan.Decide(templates);
        bool isOneLayout = tiers.TrueForAll(tier => tier.ResiliencySettingName == tiers[0].ResiliencySettingName);
        bool isOneWidth = tiers.TrueForAll(tier => tier.NumberOfColumns == tiers[0].NumberOfColumns);
        bool isOneStrip = tiers.TrueForAll(tier => tier.Interleave == tiers[0].Interleave);
        return Specify(
            isOneLayout ? tiers[0].ResiliencySettingName : "", isOneWidth ? tiers[0].NumberOfColumns : 0, tiers.Max(static tier => tier.NumberOfDataCopies),
            isOneStrip ? tiers[0].Interleave : 0) with
        {
            Tiers = [.. tiers],
            PhysicalDiskRedundancy = tiers.Min(static tier => tier.PhysicalDiskRedundancy),
            FaultDomainAwareness = tiers.Max(static tier => tier.FaultDomainAwareness),
            ColumnIsolation = tiers.Max(static tier => tier.ColumnIsolation),
            SliceSize = (uint)plan.SliceSize(),
            SizeBytes = tiers.Sum(static tier => tier.SizeBytes),
            ProvisioningType = plan.Provisioning(templates.Select(static named => named.Template)),
            AllowedDisks = request.PhysicalDisks.Count > 0 ? [.. tiers.SelectMany(tier => UsableDisks(tier.Media()))] : [],
        };
    }

    private VirtualDiskDescription Specify(string layout, int columns, int copies, uint interleave) => new()
    {
        Id = new VirtualDiskId(request.Id ?? Guid.Empty),
        FriendlyName = request.FriendlyName,
        ResiliencySettingName = layout,
        SizeBytes = 0,
        NumberOfColumns = (ushort)columns,
        NumberOfDataCopies = (ushort)copies,
        Interleave = interleave,
        LogicalSectorSize = LogicalSector(),
        PhysicalSectorSize = 4096,
        ProvisioningType = request.ProvisioningType ?? State.Pool!.ProvisioningTypeDefault,
        Checksum = request.Checksum,
        CachePool = cachePool?.Id ?? PoolId.None,
        IsManualAttach = request.IsManualAttach,
        Usage = request.Usage,
        OtherUsageDescription = request.OtherUsageDescription,
    };

    /// <summary>Rounds a size up to whole rows.</summary>
    internal static long RoundUp(long size, long row, string parameter)
    {
        if (size < 1 || size > long.MaxValue - row)
        {
            throw new ManagementException(
                ManagementError.SizeNotSupported,
                $"-{parameter} {ByteText.Exact(size)}: is too {(size < 1 ? "small" : "large")}. Valid: 1 to {ByteText.Exact(long.MaxValue - row)}, rounded up to a multiple of {ByteText.Exact(row)}.",
                "Give another size.");
        }

        return (size + row - 1) / row * row;
    }

    internal static SupportedSize SupportedSize(IPoolReader pool, string layout, FaultDomainLevel? awareness)
    {
        ResiliencyDefaults setting = LayoutRequest.SettingOf(pool.State, layout);
        VirtualDiskPlan plan = new(pool, new VirtualDiskRequest
        {
            FriendlyName = "size", ResiliencySettingName = setting.Name, UseMaximumSize = true, FaultDomainAwareness = awareness,
        });
        VirtualDiskDescription spec = plan.DecideWhole();   // whatever disks there are of that name
        long row = VirtualDiskLayout.ShapeOf(pool, spec).RowSize;
        return new SupportedSize(row, spec.SizeBytes, row);
    }

    /// <summary>
    /// Sizes of a tier that is made of a template. The largest one can be had on a disk that has no other tier, and also beside tiers of the other media that
    /// the pool has templates for, each of its largest size: their logs and the write cache take room on flash.
    /// </summary>
    /// <param name="pool">The pool.</param>
    /// <param name="template">The template.</param>
    /// <param name="layout">Layout of what the templates leave open, and of the template; null: as the template says.</param>
    internal static SupportedSize SupportedSize(IPoolReader pool, TierTemplate template, string? layout)
    {
        TierTemplateRequest asked = new() { ResiliencySettingName = layout };
        TierTemplate meant = TierTemplatePlan.Change(pool.State, template, asked);
        VirtualDiskRequest request = new() { FriendlyName = "size" };
        VirtualDiskPlan plan = new(pool, request);
        TieredDiskPlan tiers = new(pool, request, medium => plan.UsableDisks(medium));
        long most = plan.LargestTier(tiers, [meant], meant);
        TierTemplate[] others = [.. pool.State.TierTemplates.Values
            .Where(other => other.MediaTypeCode != 0 && other.MediaTypeCode != meant.MediaTypeCode && plan.UsableDisks(other.Media()).Length > 0)
            .OrderBy(static other => other.FriendlyName, StringComparer.OrdinalIgnoreCase).DistinctBy(static other => other.MediaTypeCode)
            .Select(other => other.NumberOfDataCopies == 0 ? TierTemplatePlan.Change(pool.State, other, asked) : other)];
        return new SupportedSize(tiers.SliceSize(), Math.Min(most, LargestBeside() ?? most), tiers.SliceSize());

        long? LargestBeside()
        {
            try
            {
                return others.Length > 0 ? plan.LargestTier(tiers, [meant, .. others], meant) : null;
            }
            catch (ManagementException)
            {
                return null;   // no virtual disk has tiers of all of them
            }
        }
    }

    /// <summary>
    /// The largest size of one of several new tiers, with the slower ones as large as they can be. The slower ones are decided first: the fastest one holds
    /// what grows with the size of the disk. None of them is larger than it can be alone. A write cache whose size is chosen by itself is not made smaller for
    /// their sake.
    /// </summary>
    private long LargestTier(TieredDiskPlan plan, TierTemplate[] templates, TierTemplate meant)
    {
        VirtualDiskDescription spec = SpecifyTiers(plan, [.. templates.Select(template => (template, plan.SliceSize()))]) with
        {
            ProvisioningType = ProvisioningType.Fixed,
        };
        DiskNumber[] disks = [.. spec.Tiers.SelectMany(tier => UsableDisks(tier.Media()))];
        spec = spec with { WriteCacheSize = new WriteCachePlan(pool, request, static _ => { }).Decide(spec, 1, disks) };
        for (int i = spec.Tiers.Length - 1; ; i--)
        {
            long size = RoomPlans.LargestNewTierSize(pool, spec, i);
            TierTemplate template = templates.First(one => one.MediaTypeCode == spec.Tiers[i].MediaTypeCode);
            if (template == meant)
            {
                return size;
            }

            size = Math.Max(plan.SliceSize(), Math.Min(size, LargestTier(plan, [template], template)));
            spec = spec with { Tiers = spec.Tiers.SetItem(i, spec.Tiers[i] with { SizeBytes = size }) };
            spec = spec with { SizeBytes = spec.Tiers.Sum(static tier => tier.SizeBytes) };
        }
    }

    /// <summary>
    /// Returns an action: the number of disks, like the smallest of the pool, that would make room for this many bytes more, or a smaller size.
    /// </summary>
    internal static string DisksToAdd(IPoolReader pool, VirtualDiskDescription disk, long bytes)
    {
        int positions = disk.NumberOfColumns * disk.NumberOfDataCopies;
        long rowSize = VirtualDiskLayout.ShapeOf(pool, disk).RowSize;
        long rows = (bytes + rowSize - 1) / rowSize;
        long available = pool.Allocator.LargestRowCount(disk.NumberOfColumns, disk.NumberOfDataCopies, AllocationPreferences.For(disk));
        uint slabsEach = Math.Max(1, pool.State.Disks.Values.Min(member => member.Description.SlabCount));
        long[] free = [.. FreeSlabsOf(pool, disk)];
        long wanted = Math.Max(rows, available + 1);
        long missing = Math.Max(1, (wanted * positions) - free.Sum(slabs => Math.Min(slabs, wanted)));
        long most = Math.Min(wanted, slabsEach);
        long disks = disk.FaultDomainAwareness == FaultDomainLevel.PhysicalDisk && disk.ColumnIsolation == FaultDomainLevel.PhysicalDisk
            ? (missing + most - 1) / most : Math.Max(positions, (missing + most - 1) / most);
        if (pool.State.Disks.Count + disks > PoolView.MaxMembers)
        {
            return $"Give a smaller size: a pool has at most {PoolView.MaxMembers} disks, and {TieredDiskPlan.DisksText(disks)} more like the smallest of this one would be needed.";
        }

        return $"Add {TieredDiskPlan.DisksText(disks)} like the smallest of the pool ({ByteText.Exact(slabsEach * pool.Slabs.DataBytes)} of slabs each), or give a smaller size.";
    }

    /// <summary>Free slabs of each disk that may have data of a virtual disk. A row takes one each from as many disks as it has positions.</summary>
    private static IEnumerable<long> FreeSlabsOf(IPoolReader pool, VirtualDiskDescription disk) => pool.State.Disks.Values
        .Select(static member => member.Description)
        .Where(member => pool.IsUsable(member.Number)
            && (disk.AllowedDisks.Length > 0 ? disk.AllowedDisks.Contains(member.Number) : member.Usage == DiskUsage.AutoSelect)
            && (disk.MediaTypeCode == 0 || member.Media() == MediaCode.Of(disk.MediaTypeCode)))
        .Select(member => pool.Allocator.FreeSlabs(member.Number));

    private void CheckName()
    {
        FriendlyNames.Require(request.FriendlyName, "FriendlyName");
        if (State.VirtualDisks.Values.Any(disk => string.Equals(disk.FriendlyName, request.FriendlyName, StringComparison.OrdinalIgnoreCase)))
        {
            throw new ManagementException(
                ManagementError.NameTaken,
                $"-FriendlyName '{request.FriendlyName}' is the name of another virtual disk of storage pool '{State.Pool!.FriendlyName}'.",
                "Choose another name.");
        }
    }

    private DiskNumber[] UsableDisks(MediaType? medium)
    {
        List<DiskNumber> named = [];
        foreach (Guid id in request.PhysicalDisks)
        {
            DiskState member = State.Disks.Values.FirstOrDefault(disk => disk.Description.Id.Value == id) ?? throw new ManagementException(
                ManagementError.ObjectNotFound, $"-PhysicalDisksToUse names {id}, which is not in storage pool '{State.Pool!.FriendlyName}'.");
            named.Add(member.Description.Number);
        }

        return [.. State.Disks.Values.Select(disk => disk.Description).Where(disk =>
            pool.IsUsable(disk.Number)
            && disk.Usage is DiskUsage.AutoSelect or DiskUsage.ManualSelect
            && (named.Count > 0 ? named.Contains(disk.Number) : disk.Usage == DiskUsage.AutoSelect)
            && (medium is null || disk.Media() == medium)).Select(disk => disk.Number)];
    }

    private int Columns(string layout, int copies, DiskNumber[] usable, DomainLevels levels)
    {
        int disks = usable.Length;
        int needed = (request.NumberOfColumns ?? 1) * copies;
        needed = copies == 3 && request.NumberOfColumns is null ? 5 : needed;   // a majority stays when two disks fail
        if (request is { AutoNumberOfColumns: true, NumberOfColumns: not null })
        {
            throw new ManagementException(
                ManagementError.ColumnsRange, $"-NumberOfColumns {request.NumberOfColumns} contradicts -AutoNumberOfColumns.", "Give one of them.");
        }

        LayoutRequest.CheckColumns(request.NumberOfColumns, min: 1);
        if (disks < needed)
        {
            bool columnsGiven = request.NumberOfColumns > 1;
            throw new ManagementException(
                columnsGiven ? ManagementError.ColumnsRange : ManagementError.NotEnoughPhysicalDisks,
                $"{(columnsGiven ? $"-NumberOfColumns {request.NumberOfColumns} of {layout}" : layout)} with {copies} {(copies == 1 ? "copy" : "copies")} needs {needed} physical disks; {disks} can be used.",
                columnsGiven ? $"Give at most {CountText.Of(Math.Max(1, disks / copies), "column")}, or add {TieredDiskPlan.DisksText(needed - disks)}." : $"Add {TieredDiskPlan.DisksText(needed - disks)}.");
        }

        _domains.Require(levels, layout, request.NumberOfColumns, copies, usable);
        int setting = request.AutoNumberOfColumns ? 0 : LayoutRequest.SettingOf(State, layout).NumberOfColumnsDefault;
        int most = Math.Min(setting > 0 ? setting : AutoColumnsMax, disks / copies);
        return request.NumberOfColumns ?? _domains.MostColumns(levels, copies, usable, most);
    }

    private ushort LogicalSector()
    {
        int greatest = State.Disks.Values.Max(disk => (int)disk.Description.PhysicalSectorSize);
        int sector = request.LogicalSectorSize ?? Math.Max(512, greatest);
        return sector is 512 or 4096 ? (ushort)sector : throw new ManagementException(
            ManagementError.SectorSizeNotSupported, $"-LogicalSectorSize {sector}: is no sector size. Valid: 512 and 4096.", "Give one of them.");
    }

    private long RowsWanted(VirtualDiskDescription spec)
    {
        long row = VirtualDiskLayout.ShapeOf(pool, spec).RowSize;
        return request.UseMaximumSize ? 1
            : spec.ProvisioningType == ProvisioningType.Fixed ? RoundUp(request.SizeBytes ?? 0, row, "Size") / row
            : 0;
    }

    private long Size(VirtualDiskDescription spec)
    {
        long row = VirtualDiskLayout.ShapeOf(pool, spec).RowSize;
        long max = Math.Max(0, RoomPlans.LargestRowCount(pool, spec)) * row;
        long described = RoomPlans.LargestRowCountOfMetadata(pool, spec, SpaceDescription.MaxRows) * row;
        string cache = spec.WriteCacheSize > 0 && cachePool is null ? $", beside a write cache of {ByteText.Exact(spec.WriteCacheSize)}" : "";
        string pages = described <= max || spec.ProvisioningType == ProvisioningType.Thin ? $" {new MetadataRoom(pool).Describe()}" : "";
        if (request.UseMaximumSize)
        {
            return max > 0 ? max : throw new ManagementException(
                ManagementError.NotEnoughCapacity,
                $"-UseMaximumSize: storage pool '{State.Pool!.FriendlyName}' has no room for a row of {ByteText.Exact(row)}{cache}.{pages}",
                "Remove virtual disks, or add disks.");
        }

        long size = RoundUp(request.SizeBytes ?? 0, row, "Size");
        bool isFixed = spec.ProvisioningType == ProvisioningType.Fixed;
        long most = isFixed ? max : described;
        if (size > most && (isFixed || size / row <= SpaceDescription.MaxRows))
        {
            throw new ManagementException(
                ManagementError.NotEnoughCapacity,
                $"-Size {ByteText.Exact(request.SizeBytes ?? 0)} is more than storage pool '{State.Pool!.FriendlyName}' has room for: at most {ByteText.Exact(most)} with {CountText.Of(spec.NumberOfColumns, "column")} and {TieredDiskPlan.LayoutText(spec.Parts[0])}{cache}.{pages}",
                isFixed ? $"Give a smaller size, -UseMaximumSize, {(spec.WriteCacheSize > 0 ? "a smaller -WriteCacheSize (0: none), " : "")}or add disks."
                    : "Give a smaller size, or remove virtual disks.");
        }

        return size / row <= SpaceDescription.MaxRows ? size : throw new ManagementException(
            ManagementError.SizeNotSupported,
            $"-Size {ByteText.Exact(request.SizeBytes ?? 0)} is more than {ByteText.Exact(SpaceDescription.MaxRows * row)}, the largest virtual disk with this slab and these columns.");
    }
}
