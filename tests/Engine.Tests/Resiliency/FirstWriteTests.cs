using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>First writes that no flush covers, and crashes of the process.</summary>
public sealed class FirstWriteTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Every_acknowledged_first_write_outlives_a_crash_of_the_process(int copies)
    {
        SpaceScenario scenario = new(1, copies, true, 512, 12);   // 768 blocks; a half of the notes has room for 256 at most
        SpaceWorld world = SpaceWorld.New(scenario, 1);
        Assert.Equal("", world.Lane.Run(world.Open(isNew: true)));
        byte[] model = new byte[scenario.Length];
        new Random(1).NextBytes(model);
        const int Chunk = 64 << 10;
        for (int at = 0; at < model.Length; at += Chunk)
        {
            IoBuffer buffer = world.Lane.Buffers.Rent(Chunk);
            model.AsSpan(at, Chunk).CopyTo(buffer.Span);
            Assert.Equal(IoError.None, world.Lane.Run(world.Space.Write(at, buffer, WriteFlags.None)));
            world.Lane.Buffers.Return(buffer);
        }

        SpaceWorld after = (SpaceWorld)world.Kill(2, () => false);
        Assert.Equal("", after.Lane.Run(after.Open(isNew: false)));
        for (int at = 0; at < model.Length; at += Chunk)
        {
            IoBuffer buffer = after.Lane.Buffers.Rent(Chunk);
            Assert.Equal(IoError.None, after.Lane.Run(after.Space.Read(at, buffer)));
            Assert.True(buffer.Span.SequenceEqual(model.AsSpan(at, Chunk)), $"wrong data from {at} on");
            after.Lane.Buffers.Return(buffer);
        }

        world.Release();
        after.Release();
    }

    // The region is dirty already when the second process comes to it: no mark of it is written, and yet its notes must be known as its own.
    [Fact]
    public void A_second_crash_keeps_the_first_writes_of_the_second_process()
    {
        ScrubWorld first = ScrubWorld.New(1, 2, checksums: true);
        first.Unmap(0, 64 << 10);
        first.Write(0, 4096);
        ScrubWorld second = first.Opened((SpaceWorld)first.World.Kill(2, () => false));
        second.Lane.Advance(100_000_000);
        second.Put(8192, 4096);
        ScrubWorld third = second.Opened((SpaceWorld)second.World.Kill(3, () => false));
        third.AssertReads(0, 4096);
        third.AssertReads(8192, 4096);
    }
}
