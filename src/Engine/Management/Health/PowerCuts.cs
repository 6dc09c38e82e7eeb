using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Request for a power-cut test.</summary>
public sealed record PowerCutRequest
{
    /// <summary>Layout to be proved; its size is optional here.</summary>
    public required VirtualDiskRequest Layout { get; init; }

    /// <summary>A virtual disk to be proved as it is, with its write cache and its tiers, in a small size. Of the layout only the size counts then.</summary>
    public VirtualDiskDescription? Disk { get; init; }

    /// <summary>Power cuts, 1 to <see cref="PowerCuts.CutsMax"/>.</summary>
    public int Cuts { get; init; } = PowerCuts.CutsDefault;

    /// <summary>Decides everything that is random.</summary>
    public ulong Seed { get; init; }

    /// <summary>A planted fault: the disks acknowledge flushes and carry none out.</summary>
    public bool FlushLies { get; init; }
}

/// <summary>
/// Power cuts tried out on emulated disks in memory: nothing of a subsystem is touched, and no lane of it is used. The layout is decided by
/// the plan that decides real virtual disks, so that what is refused there is refused here.
/// </summary>
public static class PowerCuts
{
    /// <summary>Cuts when none are asked for.</summary>
    public const int CutsDefault = 100;

    /// <summary>Most cuts.</summary>
    public const int CutsMax = 100_000;

    /// <summary>Most columns: more need more memory than such a test is worth.</summary>
    public const int ColumnsMax = 8;

    /// <summary>Largest virtual disk, in bytes.</summary>
    public const long SizeMax = 64L << 20;

    private const long SizeDefault = 4L << 20;
    private const uint SliceSize = 256 << 10;
    private const int CacheSlabs = 2;
    private const long DiskBytesBeyondSize = 48L << 20;   // labels, metadata and the integrity log

    /// <summary>Runs a test on the calling thread.</summary>
    /// <param name="request">Layout, number of power cuts, seed and planted fault of the test.</param>
    /// <param name="mayGoOn">Called every few milliseconds; false ends the test with the findings so far.</param>
    /// <exception cref="ManagementException">A parameter is outside its range; nothing was run.</exception>
    public static PowerCutResult Run(PowerCutRequest request, Func<bool> mayGoOn)
    {
        Check(request);
        long size = request.Layout.SizeBytes ?? SizeDefault;
        int sector = request.Layout.LogicalSectorSize ?? 4096;
        VirtualDiskRequest layout = request.Layout with { SizeBytes = size };
        VirtualDiskDescription? disk = request.Disk is { } real ? Reduce(real, size) : null;
        PowerCutPlan plan = new()
        {
            Disks = disk is null ? DisksFor(layout) : DisksFor(disk),
            DiskBytes = DiskBytesBeyondSize + VirtualDiskPlan.RoundUp(disk?.SizeBytes ?? size, SlabGeometry.SmallestSlab, "Size"),
            SectorSize = sector,
            Layout = pool => new VirtualDiskPlan(pool, layout).Decide(),
            Disk = disk,
            Cuts = request.Cuts,
            Seed = request.Seed,
            FlushLies = request.FlushLies,
        };
        return PowerCutTest.Run(plan, mayGoOn);
    }

    private static void Check(PowerCutRequest request)
    {
        if (request.Cuts is < 1 or > CutsMax)
        {
            throw new ManagementException(ManagementError.InvalidParameter, $"-Cuts {request.Cuts}: out of range. Valid: 1 to {CutsMax}.");
        }

        if (request.Layout.SizeBytes is < 1 or > SizeMax)
        {
            throw new ManagementException(
                ManagementError.SizeNotSupported, $"-Size {ByteText.Exact(request.Layout.SizeBytes ?? 0)}: out of range. Valid: 1 to {ByteText.Exact(SizeMax)}, rounded up to whole rows.");
        }

        int? columns = request.Disk?.Parts.Max(static part => part.NumberOfColumns) ?? request.Layout.NumberOfColumns;
        if (columns is < 1 or > ColumnsMax)
        {
            throw new ManagementException(
                ManagementError.ColumnsRange,
                $"-NumberOfColumns {columns}: out of range. Valid: 1 to {ColumnsMax}, which is the maximum in memory.");
        }

        if (request.Layout.LogicalSectorSize is not (null or 512 or 4096))
        {
            throw new ManagementException(
                ManagementError.SectorSizeNotSupported, $"-LogicalSectorSize {request.Layout.LogicalSectorSize}: is no sector size. Valid: 512 and 4096.",
                "Give one of them.");
        }
    }

    /// <summary>
    /// A virtual disk with the layout, the write cache and the tiers of another one, of a size that fits into memory: its cache has two slabs, and its
    /// tiers share the size in equal parts.
    /// </summary>
    private static VirtualDiskDescription Reduce(VirtualDiskDescription real, long size)
    {
        int parts = real.Parts.Length;
        long tierSize = VirtualDiskPlan.RoundUp((size + parts - 1) / parts, SliceSize, "Size");
        return new VirtualDiskDescription
        {
            FriendlyName = "power cut",
            ResiliencySettingName = real.ResiliencySettingName,
            SizeBytes = real.IsTiered ? parts * tierSize : VirtualDiskPlan.RoundUp(size, real.Parts[0].RowBytes(SlabGeometry.SmallestSlab), "Size"),
            NumberOfColumns = real.NumberOfColumns,
            NumberOfDataCopies = real.NumberOfDataCopies,
            PhysicalDiskRedundancy = real.PhysicalDiskRedundancy,
            Interleave = InterleaveOf(real.Parts[0]),
            LogicalSectorSize = real.LogicalSectorSize,
            ProvisioningType = real.ProvisioningType,
            Checksum = real.Checksum,
            WriteCacheSize = real.WriteCacheSize > 0 ? CacheSlabs * SlabGeometry.SmallestSlab : 0,
            SliceSize = real.IsTiered ? SliceSize : 0,
            Tiers = [.. real.Tiers.Select(tier => new TierDescription
            {
                FriendlyName = tier.FriendlyName,
                ResiliencySettingName = tier.ResiliencySettingName,
                SizeBytes = tierSize,
                NumberOfColumns = tier.NumberOfColumns,
                NumberOfDataCopies = tier.NumberOfDataCopies,
                PhysicalDiskRedundancy = tier.PhysicalDiskRedundancy,
                Interleave = InterleaveOf(tier),
            })],
        };
    }

    private static uint InterleaveOf(TierDescription part) =>
        (uint)Math.Min(part.Interleave, VirtualDiskLayout.InterleaveMax(new SlabGeometry(SlabGeometry.SmallestSlab), part.Parities > 0));

    /// <summary>Disks for the widest part, with a majority when those fail that the layout tolerates; those of the write cache are further ones.</summary>
    private static int DisksFor(VirtualDiskDescription disk) =>
        Math.Max(disk.Parts.Max(static part => part.NumberOfColumns * part.NumberOfDataCopies), (2 * disk.PhysicalDiskRedundancy) + 1)
        + (disk.WriteCacheSize > 0 ? disk.CacheCopies : 0);

    /// <summary>
    /// Returns the number of disks: as many as the layout needs, and so many that a majority remains when those fail that the layout tolerates. The plan
    /// rejects impossible layouts.
    /// </summary>
    private static int DisksFor(VirtualDiskRequest layout)
    {
        if (string.Equals(layout.ResiliencySettingName, TierDescription.ParityName, StringComparison.OrdinalIgnoreCase))
        {
            int parities = Math.Clamp(layout.PhysicalDiskRedundancy ?? 1, 1, 2);
            return Math.Max(layout.NumberOfColumns ?? (parities == 1 ? 3 : 7), (2 * parities) + 1);
        }

        bool isSimple = string.Equals(layout.ResiliencySettingName, "Simple", StringComparison.OrdinalIgnoreCase)
            || (layout.ResiliencySettingName is null && (layout.NumberOfDataCopies == 1 || layout.PhysicalDiskRedundancy == 0));
        int copies = isSimple ? 1 : Math.Clamp(layout.NumberOfDataCopies ?? ((layout.PhysicalDiskRedundancy ?? 1) + 1), 2, 3);
        int columns = layout.NumberOfColumns ?? (isSimple ? 2 : 1);
        int least = isSimple ? 1 : (2 * copies) - 1;
        return Math.Max(columns * copies, least);
    }
}
