using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Exports.Nbd;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>A virtual disk behind an NBD server in which changes of the block at <see cref="Offset"/> wait until <see cref="EndWait"/>.</summary>
internal sealed class WaitWorld
{
    internal const int Block = 4096;

    private const long Mebibyte = 1 << 20;
    private const long SlowNs = 50_000_000;
    private const long Second = 1_000_000_000;

    private WaitWorld(string wait, ulong seed)
    {
        World = NewWorld(KindOf(wait), seed);
        Assert.Equal("", World.Lane.Run(World.Open(isNew: true)));
    }

    /// <summary>Every reason for which a change waits before it begins.</summary>
    public static TheoryData<string> Waits =>
    [
        "a row on full disks", "a row on slow disks", "a row without checksums", "a row of parity", "an unresolved region", "a full ring",
        "a row behind a cache", "a slice", "a part of a sector", "a mark in the log", "another change",
    ];

    internal PoolWorld World { get; private set; }

    internal SimLane Lane => World.Lane;

    internal VirtualDisk Disk => World.VirtualDisk!.Disk;

    internal NbdServer Server { get; private set; } = null!;

    /// <summary>The block that is changed.</summary>
    internal long Offset { get; private set; }

    /// <summary>Content of the block before it is changed.</summary>
    internal byte Before { get; private set; }

    /// <summary>Begins the wait: from here on a change of the block waits.</summary>
    internal static WaitWorld New(string wait, ulong seed = 2)
    {
        WaitWorld world = new(wait, seed);
        world.BeginWait(wait);
        world.Server = new NbdServer(world.Lane);
        world.Server.Add(new NbdExport(Guid.NewGuid(), "d", "", world.Disk, isReadOnly: false));
        return world;
    }

    internal TestClient Connect() => new TestClient(Lane, Server).Enter(structured: false);

    /// <summary>Lets the changes go on.</summary>
    internal void EndWait()
    {
        foreach (SimDisk disk in World.Disks)
        {
            disk.Full = false;
            disk.Wake();
        }

        Lane.Advance(10 * Second);
        Array.ForEach(World.Disks, static disk => (disk.WriteTakesLonger, disk.ReadTakesLonger) = (null, null));
    }

    internal byte[] Read(long offset, int length)
    {
        IoBuffer buffer = Lane.Buffers.Rent(length);
        Assert.Equal(IoError.None, Lane.Run(Disk.Read(offset, buffer)));
        byte[] data = buffer.Span.ToArray();
        Lane.Buffers.Return(buffer);
        return data;
    }

    /// <summary>A world of a kind of virtual disk, not open yet.</summary>
    internal static PoolWorld NewWorld(string kind, ulong seed, long sizeBytes = 4 * Mebibyte)
    {
        bool isParity = kind.StartsWith("parity", StringComparison.Ordinal);
        VirtualDiskDescription spec = new()
        {
            FriendlyName = "d",
            ResiliencySettingName = isParity ? "Parity" : "Mirror",
            SizeBytes = kind.StartsWith("tiers", StringComparison.Ordinal) ? 2 * Mebibyte : sizeBytes,
            NumberOfColumns = (ushort)(isParity ? 3 : 1),
            NumberOfDataCopies = (ushort)(isParity ? 1 : 2),
            PhysicalDiskRedundancy = 1,
            Interleave = 64 << 10,
            LogicalSectorSize = Block,
            ProvisioningType = ProvisioningType.Thin,
            Checksum = kind == "no checksums" ? ChecksumKind.None : ChecksumKind.CRC32C,
            WriteCacheSize = kind.EndsWith("cache", StringComparison.Ordinal) ? Mebibyte : 0,
            SliceSize = 256 << 10,
            Tiers = kind.StartsWith("tiers", StringComparison.Ordinal) ? [Tier("fast"), Tier("slow")] : [],
        };
        return PoolWorld.New(6, 64 * Mebibyte, sectorSize: Block, seed, spec);
    }

    private static string KindOf(string wait) => wait switch
    {
        "a row without checksums" => "no checksums",
        "a row of parity" => "parity",
        "a full ring" or "a row behind a cache" => "cache",
        "a slice" => "tiers",
        _ => "mirror",
    };

    private void BeginWait(string wait)
    {
        switch (wait)
        {
            case "a row on full disks":
                Array.ForEach(World.Disks, static disk => disk.Full = true);
                break;
            case "an unresolved region":
                MakeUnresolved();
                break;
            case "a full ring":
                FillRing();
                break;
            case "a part of a sector":
                Write(Offset, 9);
                SlowDown();
                BeginWrite(64 * Block, 7);
                break;
            case "a mark in the log":
                Write(Offset, 9);
                Lane.Advance(120 * Second);   // the region is clean again
                SlowDown();
                break;
            case "another change":
                Write(Offset, 9);
                SlowDown();
                BeginWrite(Offset, 9);
                break;
            default:
                SlowDown();
                break;
        }
    }

    private void SlowDown() => Array.ForEach(World.Disks, static disk => disk.WriteTakesLonger = static (_, _) => SlowNs);

    private void MakeUnresolved()
    {
        for (int block = 0; block < 256; block++)
        {
            Write(block * Block, 9);
        }

        Offset = 200 * Block;
        World = World.Kill(77, static () => true);
        Assert.Equal("", Lane.Run(World.Open()));
        Array.ForEach(World.Disks, static disk => disk.ReadTakesLonger = static (_, _) => SlowNs);
    }

    private void FillRing()
    {
        WriteCache cache = World.VirtualDisk!.Cache!;
        cache.TakeSettings(new DestageSettings { Hold = true, StopPercent = 10 });
        Write(Offset, 9);
        Array.ForEach(World.Disks[2..], static disk => disk.Hang());   // those of the data
        for (int block = 2; block < 2000 && cache.Counters.Writes(WriteReason.BypassFull) == 0; block++)
        {
            BeginWrite(block % 900 * Block, 7);
            Lane.Advance(2_000_000);
            if (cache.AvailableBytes < 2 * Block)
            {
                break;
            }
        }
    }

    private void Write(long offset, byte content)
    {
        IoBuffer buffer = Lane.Buffers.Rent(Block);
        buffer.Span.Fill(content);
        Assert.Equal(IoError.None, Lane.Run(Disk.Write(offset, buffer, WriteFlags.None)));
        Lane.Buffers.Return(buffer);
        Before = content;
    }

    private void BeginWrite(long offset, byte content)
    {
        IoBuffer buffer = Lane.Buffers.Rent(Block);
        buffer.Span.Fill(content);
        Disk.Write(offset, buffer, WriteFlags.None).Forget();
    }

    private static TierDescription Tier(string name) => new()
    {
        FriendlyName = name,
        MediaTypeCode = 0,
        ResiliencySettingName = "Mirror",
        SizeBytes = Mebibyte,
        NumberOfColumns = 1,
        NumberOfDataCopies = 2,
        PhysicalDiskRedundancy = 1,
        Interleave = 64 << 10,
    };
}
