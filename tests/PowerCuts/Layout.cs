using TierSpaces.Contracts;

namespace TierSpaces.PowerCuts;

/// <summary>A virtual disk of the machine under test.</summary>
/// <param name="Request">The request that makes it.</param>
/// <param name="FileSystem">ext4 or xfs; null: its device is written itself.</param>
internal sealed record PlannedDisk(NewVirtualDiskRequest Request, string? FileSystem = null)
{
    internal string Name => Request.FriendlyName!;
}

/// <summary>
/// Storage that a seed makes of the disks of a machine: a pool of three SSDs and four HDDs with a mirror, a parity layout, a write cache and tiers, whose
/// devices are written themselves, and two mounted file systems. The seed chooses among the layouts that a release offers: of six seeds in a row, each file
/// system is once on a mirror, parity, dual parity, a mirror and parity with a write cache, and tiers; of twelve, six have a disk that is away.
/// </summary>
internal sealed class Layout
{
    internal const string Pool = "p";
    private const ulong Mebi = 1 << 20;
    private const ulong RawSize = 32 * Mebi;
    private const int FileLayouts = 6;

    internal Layout(ulong seed)
    {
        Random random = new((int)seed);
        bool isThreeWay = random.Next(3) == 0;
        bool isDual = random.Next(2) == 0;
        PlannedDisk mirror = new(New("mirror") with
        {
            ResiliencySettingName = "Mirror", NumberOfDataCopies = (ushort)(isThreeWay ? 3 : 2), Size = RawSize, WriteCacheSize = 0,
            MediaType = isThreeWay ? null : random.Next(2) == 0 ? MediaType.SSD : MediaType.HDD, Checksum = random.Next(3) == 0 ? ChecksumKind.None : null,
            ProvisioningType = Provisioning(random),
        });
        PlannedDisk parity = new(New("parity") with
        {
            ResiliencySettingName = "Parity", NumberOfColumns = (ushort)(isDual ? 4 : 3), PhysicalDiskRedundancy = (ushort)(isDual ? 2 : 1), Size = RawSize,
            MediaType = MediaType.HDD, WriteCacheSize = 0, ProvisioningType = Provisioning(random),
        });
        bool isCachedParity = random.Next(2) == 0;
        PlannedDisk cached = new(New("cached") with
        {
            ResiliencySettingName = isCachedParity ? "Parity" : "Mirror", NumberOfColumns = isCachedParity ? (ushort)3 : null, Size = RawSize,
            MediaType = MediaType.HDD, WriteCacheSize = 4 * Mebi, ProvisioningType = Provisioning(random),
        });
        PlannedDisk tiered = new(New("tiered") with
        {
            StorageTiers = ["fast", "slow"], StorageTierSizes = [8 * Mebi, 24 * Mebi], WriteCacheSize = random.Next(2) == 0 ? 0 : 4 * Mebi,
        });
        int layout = (int)(seed % FileLayouts);
        PlannedDisk ext4 = new(OfFiles("ext4", layout, 64 * Mebi, Provisioning(random)), "ext4");
        PlannedDisk xfs = new(OfFiles("xfs", (layout + (FileLayouts / 2)) % FileLayouts, 320 * Mebi, Provisioning(random)), "xfs");
        Away = (seed + FileLayouts - 1) / FileLayouts % 2 == 0 && seed > 0 ? 1 + random.Next(Members.Length - 1) : -1;
        Disks = [mirror, parity, cached, tiered, ext4, xfs];
        SlowTier = random.Next(2) == 0
            ? NewTier("slow", MediaType.HDD) with { ResiliencySettingName = "Mirror", NumberOfColumns = 2 }
            : NewTier("slow", MediaType.HDD) with { ResiliencySettingName = "Parity", NumberOfColumns = 3 };
    }

    /// <summary>Disks of the machine and their bytes. The first one is its own.</summary>
    internal static (string Name, long Length)[] Members { get; } =
    [
        ("system", 256L << 20), ("ssd1", 512L << 20), ("ssd2", 512L << 20), ("ssd3", 512L << 20),
        ("hdd1", 1L << 30), ("hdd2", 1L << 30), ("hdd3", 1L << 30), ("hdd4", 1L << 30),
    ];

    internal PlannedDisk[] Disks { get; }

    /// <summary>Number of the member that is away from the second start on; −1: none.</summary>
    internal int Away { get; }

    internal NewStorageTierRequest FastTier { get; } = NewTier("fast", MediaType.SSD) with { ResiliencySettingName = "Mirror", NumberOfColumns = 1 };

    internal NewStorageTierRequest SlowTier { get; }

    /// <summary>The layouts in words.</summary>
    public override string ToString() => string.Join(", ", Disks.Select(static disk => disk.Request).Select(request =>
        $"{request.FriendlyName}: {request.ResiliencySettingName ?? $"{FastTier.ResiliencySettingName} over {SlowTier.ResiliencySettingName}"}"
        + $"{(request.NumberOfDataCopies is 3 ? " of 3" : "")}{(request.PhysicalDiskRedundancy is 2 ? ", dual" : "")}"
        + $"{(request.Checksum is ChecksumKind.None ? ", no checksums" : "")}{(request.WriteCacheSize > 0 ? ", cached" : "")}"
        + $"{(request.ProvisioningType is ProvisioningType.Thin ? ", thin" : "")}")) + (Away > 0 ? $"; {Members[Away].Name} is away" : "");

    private static NewVirtualDiskRequest New(string name) => new() { StoragePoolFriendlyName = [Pool], FriendlyName = name };

    private static NewVirtualDiskRequest OfFiles(string name, int layout, ulong size, ProvisioningType provisioning)
    {
        const ulong fast = 32 * Mebi;
        NewVirtualDiskRequest disk = New(name);
        return layout == 5 ? disk with { StorageTiers = ["fast", "slow"], StorageTierSizes = [fast, size - fast], WriteCacheSize = 0 }
            : disk with
            {
                ResiliencySettingName = layout is 0 or 3 ? "Mirror" : "Parity", NumberOfColumns = layout is 0 or 3 ? null : (ushort)(layout == 2 ? 4 : 3),
                PhysicalDiskRedundancy = layout == 2 ? (ushort)2 : null, Size = size, WriteCacheSize = layout is 3 or 4 ? 8 * Mebi : 0,
                MediaType = MediaType.HDD, ProvisioningType = provisioning,
            };
    }

    private static NewStorageTierRequest NewTier(string name, MediaType media) =>
        new() { StoragePoolFriendlyName = [Pool], FriendlyName = name, MediaType = media };

    private static ProvisioningType Provisioning(Random random) => random.Next(2) == 0 ? ProvisioningType.Thin : ProvisioningType.Fixed;
}
