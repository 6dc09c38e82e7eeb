using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Exports.Nbd;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>Requests of 512 bytes to virtual disks with sectors of 4 KiB.</summary>
public sealed class PartRequestTests
{
    private const int Part = VirtualDisk.SmallestRequest;
    private const int Block = 4096;
    private const long Mebibyte = 1 << 20;
    private const ushort NbdRead = 0, NbdWrite = 1, NbdTrim = 4, NbdWriteZeroes = 6;
    private const uint InvalidArgument = 22;

    /// <summary>A virtual disk of each kind.</summary>
    public static TheoryData<string> Kinds => ["simple", "mirror", "no checksums", "parity", "write cache", "tiers", "parity behind a write cache"];

    [Fact]
    public void The_sector_stays_what_clients_are_told_and_less_than_512_bytes_are_refused()
    {
        PoolWorld world = NewWorld("mirror", 1);
        VirtualDisk disk = world.VirtualDisk!.Disk;
        Assert.Equal((Block, Part), (disk.Geometry.BlockSize, disk.Geometry.SmallestRequest));
        Assert.Equal(IoError.InvalidArgument, TryWrite(world, 256, new byte[512]));
        Assert.Equal(IoError.InvalidArgument, TryWrite(world, 512, new byte[256]));
        Assert.Equal(IoError.InvalidArgument, world.Lane.Run(disk.WriteZeroes(1, 512, WriteFlags.None)));
        Assert.Equal(IoError.InvalidArgument, world.Lane.Run(disk.Unmap(0, 100)));
        Assert.Equal(IoError.InvalidArgument, TryWrite(world, disk.SizeBytes - 512, new byte[1024]));
    }

    /// <summary>Eight clients, each with 512 bytes of the same block. The first requests meet the lock being turned on.</summary>
    [Theory]
    [MemberData(nameof(Kinds))]
    public void Clients_inside_one_block_lose_nothing(string kind)
    {
        PoolWorld world = NewWorld(kind, 2);
        VirtualDisk disk = world.VirtualDisk!.Disk;
        byte[] model = new byte[Block];
        for (int round = 0; round < 12; round++)
        {
            LaneTask<IoError>[] writes = new LaneTask<IoError>[Block / Part];
            for (int client = 0; client < writes.Length; client++)
            {
                byte[] data = Random((round * 8) + client, Part);
                data.CopyTo(model, client * Part);
                writes[client] = WriteAt(disk, world.Lane, client * Part, data, round % 2 == 0 ? WriteFlags.None : WriteFlags.ForceUnitAccess);
            }

            Assert.All(writes, write => Assert.Equal(IoError.None, world.Lane.Run(write)));
            Assert.Equal(model, Read(world, 0, Block));
        }

        Assert.Equal(12 * 8, disk.Counters.ReadModifyWrites);
        PoolWorld cut = world.Cut(77, static (_, _, _) => false);   // the last round was written through
        Assert.Equal("", cut.Lane.Run(cut.Open()));
        Assert.Equal(model, Read(cut, 0, Block));
    }

    /// <summary>Several requests at once at any sector of 512 bytes match an array; none of them covers the same bytes.</summary>
    [Theory]
    [MemberData(nameof(Kinds))]
    public void Random_requests_match_an_array(string kind)
    {
        PoolWorld world = NewWorld(kind, 3);
        SimLane lane = world.Lane;
        byte[] model = new byte[256 << 10];
        for (int round = 0; round < 30; round++)
        {
            List<(LaneTask<IoError> Task, int Start, int End)> changes = [];
            for (int i = 0; i < 6; i++)
            {
                int unit = round < 4 || lane.Next(2) == 0 ? Block : Part;   // at first the disk takes no lock
                int length = (1 + lane.Next(lane.Next(6) == 0 ? 20 : 3)) * (lane.Next(3) == 0 ? Block : unit);
                int offset = lane.Next((model.Length - length) / unit) * unit;
                if (!changes.Exists(other => offset < other.End && other.Start < offset + length))
                {
                    changes.Add((Change(world, model, offset, length), offset, offset + length));
                }
            }

            Assert.All(changes, change => Assert.Equal(IoError.None, lane.Run(change.Task)));
            int from = lane.Next(100) * Part;
            Assert.Equal(model[from..], Read(world, from, model.Length - from));
        }

        Assert.True(world.VirtualDisk!.Disk.Counters.ReadModifyWrites > 20);
    }

    /// <summary>A whole block that is written, zeroed or unmapped without a lock is not undone by the first write of a part of it.</summary>
    [Theory]
    [InlineData("write")]
    [InlineData("zero")]
    [InlineData("unmap")]
    public void The_first_part_waits_for_the_changes_under_way(string whole)
    {
        for (int seed = 1; seed <= 12; seed++)
        {
            PoolWorld world = NewWorld("mirror", (ulong)seed);
            VirtualDisk disk = world.VirtualDisk!.Disk;
            byte[] expected = Random(1, 2 * Block);
            Assert.Equal(IoError.None, TryWrite(world, 0, expected));
            byte[] theirs = whole == "write" ? Random(2, Block) : new byte[Block];
            byte[] ours = Random(3, Part);
            LaneTask<IoError> first = whole switch
            {
                "write" => WriteAt(disk, world.Lane, 0, theirs),
                "zero" => disk.WriteZeroes(0, Block, WriteFlags.None),
                _ => disk.Unmap(0, Block),
            };
            world.Lane.Advance(seed * 30_000);
            LaneTask<IoError> second = WriteAt(disk, world.Lane, 3584, ours);
            LaneTask<IoError> third = WriteAt(disk, world.Lane, 4096, expected[Block..]);   // comes while the lock is being turned on
            Assert.Equal(IoError.None, world.Lane.Run(first));
            Assert.Equal(IoError.None, world.Lane.Run(second));
            Assert.Equal(IoError.None, world.Lane.Run(third));
            theirs.CopyTo(expected, 0);
            ours.CopyTo(expected, 3584);
            Assert.Equal(expected, Read(world, 0, expected.Length));
        }
    }

    [Fact]
    public void Zeros_are_exact_and_a_trim_of_a_part_leaves_it()
    {
        PoolWorld world = NewWorld("mirror", 4);
        VirtualDisk disk = world.VirtualDisk!.Disk;
        byte[] model = Random(5, 4 * Block);
        Assert.Equal(IoError.None, TryWrite(world, 0, model));
        Assert.Equal(IoError.None, world.Lane.Run(disk.Unmap(Part, (2 * Block) + Part)));   // one whole block, and parts of two
        model.AsSpan(Block, Block).Clear();
        Assert.Equal(model, Read(world, 0, model.Length));
        Assert.Equal(IoError.None, world.Lane.Run(disk.WriteZeroes(Part, 2 * Part, WriteFlags.None)));
        model.AsSpan(Part, 2 * Part).Clear();
        Assert.Equal(IoError.None, world.Lane.Run(disk.WriteZeroes((2 * Block) + Part, Block, WriteFlags.NoHole)));
        model.AsSpan((2 * Block) + Part, Block).Clear();
        Assert.Equal(model, Read(world, 0, model.Length));
        for (int at = 0; at < model.Length; at += 3 * Part)
        {
            Assert.Equal(model[at..Math.Min(model.Length, at + (3 * Part))], Read(world, at, Math.Min(3 * Part, model.Length - at)));
        }
    }

    [Fact]
    public void Clients_that_keep_to_the_sectors_are_not_counted_and_reads_of_parts_change_nothing()
    {
        PoolWorld world = NewWorld("mirror", 6);
        byte[] data = Random(6, 8 * Block);
        Assert.Equal(IoError.None, TryWrite(world, 0, data));
        Assert.Equal(data[Part..(3 * Part)], Read(world, Part, 2 * Part));
        Assert.Equal(IoError.None, TryWrite(world, 0, data));
        Assert.Equal(0, world.VirtualDisk!.Disk.Counters.ReadModifyWrites);
    }

    /// <summary>The exchange of a write cache pauses the disk, too: a request goes on only when both pauses are over.</summary>
    [Fact]
    public void The_first_part_that_meets_another_pause_waits_for_its_end()
    {
        PoolWorld world = NewWorld("mirror", 7);
        VirtualDisk disk = world.VirtualDisk!.Disk;
        LaneTask<IoError> whole = WriteAt(disk, world.Lane, 0, Random(1, Block));
        LaneTask<IoError> part = WriteAt(disk, world.Lane, 512, Random(2, Part));   // waits for the first one
        LaneTask<Nothing> pause = disk.Pause();
        Assert.Equal(IoError.None, world.Lane.Run(whole));
        world.Lane.Run(pause);
        bool hasEnded = false;
        _ = Note();
        world.Lane.Advance(1_000_000_000);
        Assert.False(hasEnded);
        disk.Resume(null);
        world.Lane.PumpWhile(() => !hasEnded, 1_000_000_000);
        Assert.Equal(Random(2, Part), Read(world, 512, Part));

        async LaneTask<Nothing> Note()
        {
            Assert.Equal(IoError.None, await part);
            hasEnded = true;
            return default;
        }
    }

    /// <summary>
    /// The power goes while 512 bytes of a block are written, at any moment, and each sector of the disks is kept or lost by chance. The 512 bytes are old or
    /// new, the other seven of the block what they were.
    /// </summary>
    [Theory]
    [InlineData("simple", 4096)]
    [InlineData("mirror", 512)]
    [InlineData("mirror", 4096)]
    [InlineData("no checksums", 512)]
    [InlineData("parity", 512)]
    [InlineData("write cache", 512)]
    [InlineData("tiers", 4096)]
    public void A_power_cut_leaves_the_old_or_the_new_part_and_its_neighbours(string kind, int sectorSize)
    {
        (int old, int @new) = (0, 0);
        for (int seed = 1; seed <= 16; seed++)
        {
            PoolWorld world = NewWorld(kind, (ulong)seed, sectorSize);
            byte[] before = Random(seed, 2 * Block);
            Assert.Equal(IoError.None, TryWrite(world, 0, before));
            Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
            byte[] part = Random(1000 + seed, Part);
            int offset = seed % 8 * Part;
            bool writesThrough = seed % 3 == 0;
            _ = WriteAt(world.VirtualDisk.Disk, world.Lane, offset, part, writesThrough ? WriteFlags.ForceUnitAccess : WriteFlags.None);
            world.Lane.Advance(seed * (writesThrough ? 100_000 : 40_000));

            Random chance = new(seed);
            PoolWorld cut = world.Cut((ulong)(500 + seed), (_, _, _) => chance.Next(2) == 0);
            Assert.Equal("", cut.Lane.Run(cut.Open()));
            byte[] after = Read(cut, 0, before.Length);
            bool isNew = after.AsSpan(offset, Part).SequenceEqual(part);
            (old, @new) = isNew ? (old, @new + 1) : (old + 1, @new);
            (isNew ? part : before.AsSpan(offset, Part)).CopyTo(before.AsSpan(offset));
            Assert.True(before.AsSpan().SequenceEqual(after), $"seed {seed}: the part is {(isNew ? "new" : "not new")}");
        }

        Assert.True(old > 1 && @new > 1, $"Both occur: {old} old, {@new} new.");
    }

    [Fact]
    public void An_NBD_client_that_ignores_the_announced_size_is_served()
    {
        const uint minimumAndPreferred = 0x1000;
        PoolWorld world = NewWorld("mirror", 8);
        VirtualDisk disk = world.VirtualDisk!.Disk;
        NbdServer server = new(world.Lane);
        server.Add(new NbdExport(Guid.NewGuid(), "d", "", disk, isReadOnly: false));
        TestClient client = new TestClient(world.Lane, server).Greet();
        OptionReply sizes = Assert.Single(client.Option(7, TestClient.InfoQuery("d", 3)), static reply => reply is { Type: 3, Data: [0, 3, ..] });
        Assert.Equal([.. TestClient.UInt32(minimumAndPreferred), .. TestClient.UInt32(minimumAndPreferred)], sizes.Data[2..10]);

        byte[] part = Random(9, Part);
        Assert.Equal(0u, client.Ask(NbdWrite, 512, Part, payload: part).Error);
        Assert.Equal(0u, client.Ask(NbdWriteZeroes, 4096 - 512, 1024).Error);
        Assert.Equal(0u, client.Ask(NbdTrim, 0, 512).Error);
        Assert.Equal([.. part, .. new byte[Part]], client.Ask(NbdRead, 512, 2 * Part).Data);
        Assert.Equal(InvalidArgument, client.Ask(NbdWrite, 256, Part, payload: part).Error);
        Assert.Equal(InvalidArgument, client.Ask(NbdRead, 0, 100).Error);
        Assert.Equal(3, disk.Counters.ReadModifyWrites);   // the zeros lie in two blocks
        world.Lane.Run(server.Close());
    }

    private static LaneTask<IoError> Change(PoolWorld world, byte[] model, int offset, int length)
    {
        VirtualDisk disk = world.VirtualDisk!.Disk;
        switch (world.Lane.Next(5))
        {
            case 0:
                model.AsSpan(offset, length).Clear();
                return disk.WriteZeroes(offset, length, WriteFlags.None);
            case 1:
                int first = (offset + Block - 1) / Block * Block;
                int end = (offset + length) / Block * Block;
                model.AsSpan(first, Math.Max(0, end - first)).Clear();
                return disk.Unmap(offset, length);
            default:
                byte[] data = Random(world.Lane.Next(1 << 30), length);
                data.CopyTo(model, offset);
                return WriteAt(disk, world.Lane, offset, data);
        }
    }

    private static PoolWorld NewWorld(string kind, ulong seed, int sectorSize = 512)
    {
        bool isParity = kind.StartsWith("parity", StringComparison.Ordinal);
        bool isSimple = kind == "simple";
        VirtualDiskDescription spec = new()
        {
            FriendlyName = "d",
            ResiliencySettingName = isParity ? "Parity" : isSimple ? "Simple" : "Mirror",
            SizeBytes = (kind == "tiers" ? 2 : 4) * Mebibyte,
            NumberOfColumns = (ushort)(isParity ? 3 : 1),
            NumberOfDataCopies = (ushort)(isParity || isSimple ? 1 : 2),
            PhysicalDiskRedundancy = (ushort)(isSimple ? 0 : 1),
            Interleave = 64 << 10,
            LogicalSectorSize = Block,
            ProvisioningType = seed % 2 == 0 ? ProvisioningType.Fixed : ProvisioningType.Thin,
            Checksum = kind == "no checksums" ? ChecksumKind.None : ChecksumKind.CRC32C,
            WriteCacheSize = kind.EndsWith("write cache", StringComparison.Ordinal) ? Mebibyte : 0,
            SliceSize = 256 << 10,
            Tiers = kind == "tiers" ? [Tier("fast"), Tier("slow")] : [],
        };
        PoolWorld world = PoolWorld.New(6, 64 * Mebibyte, sectorSize, seed, spec);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        return world;
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

    private static byte[] Random(int seed, int length)
    {
        byte[] data = new byte[length];
        new Random(seed).NextBytes(data);
        return data;
    }

    private static IoError TryWrite(PoolWorld world, long offset, byte[] data) =>
        world.Lane.Run(WriteAt(world.VirtualDisk!.Disk, world.Lane, offset, data));

    private static async LaneTask<IoError> WriteAt(IBlockStore store, SimLane lane, long offset, byte[] data, WriteFlags flags = WriteFlags.None)
    {
        IoBuffer buffer = lane.Buffers.Rent(data.Length);
        data.CopyTo(buffer.Span);
        IoError error = await store.Write(offset, buffer, flags);
        lane.Buffers.Return(buffer);
        return error;
    }

    private static byte[] Read(PoolWorld world, long offset, int length) => world.Lane.Run(ReadAt(world.VirtualDisk!.Disk, world.Lane, offset, length));

    private static async LaneTask<byte[]> ReadAt(IBlockStore store, SimLane lane, long offset, int length)
    {
        IoBuffer buffer = lane.Buffers.Rent(length).AllowKeeping();
        IoError error = await store.Read(offset, buffer);
        buffer = lane.Buffers.Settle(buffer);
        byte[] data = buffer.Span.ToArray();
        lane.Buffers.Return(buffer);
        return error == IoError.None ? data : throw new IOException($"read at {offset}: {error}");
    }
}
