using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Exports.Nbd;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>NBD server, virtual disk, and what is below it: the longest requests that the server announces, at offsets that are no block borders.</summary>
public sealed class ServedDiskTests
{
    private const ushort Read = 0, Write = 1, Fua = 1;
    private const long Mebibyte = 1 << 20;
    private const int Longest = 32 << 20;   // announced to clients

    [Theory]
    [InlineData(512, false, false)]
    [InlineData(3 * 4096 + 512, false, false)]
    [InlineData(512, true, false)]
    [InlineData(512, false, true)]
    [InlineData(4096, false, false)]
    public void The_longest_request_is_answered_at_an_odd_offset(int offset, bool isCached, bool isTiered)
    {
        PoolWorld world = PoolWorld.New(4, 192 * Mebibyte, 4096, seed: 17, Spec(isCached, isTiered));
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        NbdServer server = new(world.Lane);
        server.Add(new NbdExport(Guid.Empty, "d", "", world.VirtualDisk!.Disk, isReadOnly: false));
        TestClient client = new(world.Lane, server);
        client.Enter();
        byte[] data = new byte[Longest];
        new Random(offset).NextBytes(data);
        Assert.Equal(0u, client.Ask(Write, (ulong)offset, Longest, Fua, data).Error);
        Reply reply = client.Ask(Read, (ulong)offset, Longest);
        Assert.Equal(0u, reply.Error);
        Assert.True(reply.Data.AsSpan(8).SequenceEqual(data));

        PoolWorld cut = world.Cut(18, static (_, _, _) => false);   // it was to be durable when it was answered
        Assert.Equal("", cut.Lane.Run(cut.Open()));
        Assert.True(cut.Lane.Run(ReadAll(cut, offset)).AsSpan().SequenceEqual(data));
        world.Lane.Run(server.Close());
        world.Release();
        cut.Release();
    }

    private static VirtualDiskDescription Spec(bool isCached, bool isTiered) => new()
    {
        FriendlyName = "d", ResiliencySettingName = "Mirror", SizeBytes = 40 * Mebibyte, NumberOfColumns = 1, NumberOfDataCopies = 2,
        Interleave = 256 << 10, LogicalSectorSize = 512, WriteCacheSize = isCached ? 8 * Mebibyte : 0,
        Tiers = isTiered ? [Tier(10), Tier(30)] : [],
    };

    private static TierDescription Tier(int slices) => new()
    {
        FriendlyName = $"t{slices}", MediaTypeCode = 0, ResiliencySettingName = "Mirror", SizeBytes = slices * Mebibyte,
        NumberOfColumns = 1, NumberOfDataCopies = 2, Interleave = 256 << 10,
    };

    private static async LaneTask<byte[]> ReadAll(PoolWorld world, long offset)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(Longest);
        Assert.Equal(IoError.None, await world.VirtualDisk!.Disk.Read(offset, buffer));
        byte[] data = buffer.Span.ToArray();
        world.Lane.Buffers.Return(buffer);
        return data;
    }
}
