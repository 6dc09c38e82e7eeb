using TierSpaces.Engine.Exports.Fuse;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Exports.Fuse;
using TierSpaces.Engine.Tests.Exports.Nbd;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>Changes of one block that wait are carried out in the order in which they came, and not at all if their client is gone by then.</summary>
public sealed class WaitOrderTests
{
    private const int Block = WaitWorld.Block;
    private const ushort NbdWrite = 1, NbdFlush = 3, NbdTrim = 4, NbdWriteZeroes = 6;

    public static TheoryData<string> Waits => WaitWorld.Waits;

    public static TheoryData<string, ushort, ushort> Changes
    {
        get
        {
            TheoryData<string, ushort, ushort> changes = [];
            foreach (string wait in (string[])["a row on slow disks", "a row of parity", "an unresolved region", "a full ring", "a slice", "a mark in the log"])
            {
                changes.Add(wait, NbdTrim, NbdWrite);
                changes.Add(wait, NbdWriteZeroes, NbdWrite);
                changes.Add(wait, NbdWrite, NbdTrim);
                changes.Add(wait, NbdWrite, NbdWriteZeroes);
            }

            return changes;
        }
    }

    [Theory]
    [MemberData(nameof(Waits))]
    public void Of_two_writes_that_wait_the_later_one_stays(string wait) => TestOrder(wait, NbdWrite, NbdWrite, isGone: false);

    [Theory]
    [MemberData(nameof(Waits))]
    public void A_write_whose_client_is_gone_does_not_undo_a_later_one(string wait) => TestOrder(wait, NbdWrite, NbdWrite, isGone: true);

    [Theory]
    [MemberData(nameof(Changes))]
    public void Zeroing_and_unmapping_keep_the_order_too(string wait, ushort first, ushort second)
    {
        TestOrder(wait, first, second, isGone: false);
        TestOrder(wait, first, second, isGone: true);
    }

    [Theory]
    [MemberData(nameof(Waits))]
    public void A_write_that_had_not_begun_when_its_client_went_is_not_carried_out(string wait)
    {
        WaitWorld world = WaitWorld.New(wait);
        TestClient client = world.Connect();
        Request(client, NbdWrite, world.Offset, wait == "a part of a sector" ? 512 : Block, 0xA1);
        world.Lane.Advance(1_000_000);
        client.Socket.ClientCloses();
        world.Lane.Advance(1_000_000);
        world.EndWait();
        world.Lane.PumpWhile(() => world.Server.Connections > 0, 60_000_000_000);
        Assert.Equal(Full(world.Before), world.Read(world.Offset, Block));
    }

    [Fact]
    public void A_write_of_a_kernel_that_has_ended_its_connection_is_not_carried_out()
    {
        WaitWorld world = WaitWorld.New("a row on slow disks");
        TestKernel kernel = new();
        NbdExport export = new(Guid.NewGuid(), "d", "", world.Disk, isReadOnly: false);
        FuseSession session = FuseSession.Start(world.Lane, kernel, export, new FuseChannel(3, "d", isTakenOver: false), static _ => { });
        kernel.Ask(TestKernel.Write(1, world.Offset, Full(0xA1)));
        world.Lane.Advance(1_000_000);
        kernel.IsAborted = true;
        kernel.Tell();
        world.EndWait();
        Assert.Equal(Full(0), world.Read(world.Offset, Block));
        world.Lane.Run(Drain(session));
    }

    // The session ends and another one begins, as when the disk moves to another lane: the kernel is still there.
    [Fact]
    public void A_write_is_carried_out_though_its_session_ends()
    {
        WaitWorld world = WaitWorld.New("a row on slow disks");
        TestKernel kernel = new();
        NbdExport export = new(Guid.NewGuid(), "d", "", world.Disk, isReadOnly: false);
        FuseSession session = FuseSession.Start(world.Lane, kernel, export, new FuseChannel(3, "d", isTakenOver: false), static _ => { });
        world.Lane.Advance(1_000_000);
        kernel.Ask(TestKernel.Write(1, world.Offset, Full(0xA1)));
        world.Lane.Run(Drain(session));
        Assert.Equal(Full(0xA1), world.Read(world.Offset, Block));
    }

    // A zeroing that waits for one part of its range has its place in the other parts too.
    [Theory]
    [InlineData("a row on slow disks", NbdTrim)]
    [InlineData("an unresolved region", NbdTrim)]
    [InlineData("an unresolved region", NbdWriteZeroes)]
    [InlineData("a slice", NbdTrim)]
    [InlineData("a slice", NbdWriteZeroes)]
    public void A_long_range_that_waits_for_its_first_part_keeps_its_place_in_the_others(string wait, ushort zeroing)
    {
        WaitWorld world = WaitWorld.New(wait);
        (TestClient first, TestClient second) = (world.Connect(), world.Connect());
        const int length = 3 << 19;   // rows and slices are shorter
        second.Request(NbdWrite, 0, Block, payload: Full(0xC3));   // the first row or slice is being made
        first.Request(zeroing, 0, length);
        world.Lane.Advance(1_000_000);
        foreach (int at in (int[])[length / 3, length / 2, length - Block])
        {
            second.Request(NbdWrite, (ulong)at, Block, payload: Full(0xB2));
        }

        world.EndWait();
        world.Lane.Run(world.Disk.Flush());
        foreach (int at in (int[])[length / 3, length / 2, length - Block])
        {
            Assert.Equal(Full(0xB2), world.Read(at, Block));
        }

        Assert.Equal(Full(0), world.Read(0, Block));
        world.Lane.Run(world.Server.Close());
    }

    private static void TestOrder(string wait, ushort first, ushort second, bool isGone)
    {
        WaitWorld world = WaitWorld.New(wait);
        (TestClient older, TestClient newer) = (world.Connect(), world.Connect());
        Request(older, first, world.Offset, wait == "a part of a sector" ? 512 : Block, 0xA1);
        world.Lane.Advance(1_000_000);
        if (isGone)
        {
            older.Socket.ClientCloses();
        }

        Request(newer, second, world.Offset, Block, 0xB2);
        Assert.Equal(0, newer.Socket.ReceivedByClient);
        world.EndWait();
        Assert.Equal(0u, newer.TakeReply().Error);
        Assert.Equal(0u, newer.Ask(NbdFlush).Error);
        world.Lane.Advance(5_000_000_000);
        Assert.Equal(Full(second == NbdWrite ? (byte)0xB2 : (byte)0), world.Read(world.Offset, Block));
        world.Lane.Run(world.Server.Close());
    }

    private static async LaneTask<Nothing> Drain(FuseSession session)
    {
        await session.Drain();
        return default;
    }

    private static void Request(TestClient client, ushort command, long offset, int length, byte content) =>
        client.Request(command, (ulong)offset, (uint)length, payload: command == NbdWrite ? Full(content)[..length] : null);

    private static byte[] Full(byte content)
    {
        byte[] block = new byte[Block];
        Array.Fill(block, content);
        return block;
    }
}
