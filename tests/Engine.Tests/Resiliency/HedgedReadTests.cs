using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>A two-way mirror with a disk that hangs: reads are answered by the other one, writes after the disk has left.</summary>
public sealed class HedgedReadTests : IDisposable
{
    private const long Millisecond = 1_000_000;
    private const int Length = 8192;

    private SpaceWorld _world = null!;

    public void Dispose() => _world.Release();

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_read_is_answered_by_the_other_copy_soon_and_its_memory_stays_with_the_device(bool checksums)
    {
        Open(checksums);
        int reads = ReadFromHung(out IoBuffer[] answers);
        Assert.True(reads > 0, "no read went to the disk that hangs");
        Assert.All(answers, answer => Assert.Equal(-1, answer.Span.IndexOfAnyExcept((byte)7)));
        Assert.Equal(reads, _world.Space.HedgesWon);
        Array.ForEach(answers, _world.Lane.Buffers.Return);
        Assert.Equal(reads, _world.Lane.Buffers.Waiting);   // the memory that was asked for is still with the device

        // The device's late reads reach memory that has no other user.
        foreach (SimDisk disk in _world.Disks)
        {
            disk.Wake();
        }

        _world.Lane.Advance(100 * Millisecond);
        Assert.Equal(0, _world.Lane.Buffers.Waiting);
    }

    [Fact]
    public void A_disk_with_overdue_reads_is_not_asked_again_before_it_has_answered()
    {
        Open(checksums: true);
        ReadFromHung(out _);
        long asked = _world.Space.HedgesAsked;
        for (int i = 0; i < 8; i++)
        {
            long startNs = _world.Lane.NowNs;
            Read();
            Assert.InRange(_world.Lane.NowNs - startNs, 0, 10 * Millisecond);
        }

        Assert.Equal(asked, _world.Space.HedgesAsked);
    }

    [Fact]
    public void Without_leave_to_keep_the_memory_the_answer_is_copied_after_the_deadline()
    {
        Open(checksums: true);
        Hang(0);
        Hang(1);
        _world.Lane.Schedule(300 * Millisecond, () => _world.Disks[0].Wake());
        _world.Lane.Schedule(300 * Millisecond, () => _world.Disks[1].Wake());
        IoBuffer buffer = _world.Lane.Buffers.Rent(Length);
        Assert.Equal(IoError.None, _world.Lane.Run(_world.Space.Read(0, buffer)));
        Assert.Equal(-1, buffer.Span.IndexOfAnyExcept((byte)7));
        Assert.Equal(0, _world.Space.HedgesAsked);
    }

    [Fact]
    public void Two_copies_that_are_both_slow_are_not_asked_twice()
    {
        Open(checksums: true);
        Hang(0);
        Hang(1);
        LaneTask<IoError>[] reads = [.. Enumerable.Range(0, 8).Select(_ => _world.Space.Read(0, _world.Lane.Buffers.Rent(Length).AllowKeeping()))];
        _world.Lane.Advance(1000 * Millisecond);
        Assert.InRange(_world.Space.HedgesAsked, 1, 8);
        _world.Disks[0].Wake();
        _world.Disks[1].Wake();
        Assert.All(reads, read => Assert.Equal(IoError.None, _world.Lane.Run(read)));
        _world.Lane.Advance(100 * Millisecond);
        Assert.Equal(0, _world.Lane.Buffers.Waiting);
    }

    [Fact]
    public void A_write_waits_for_the_deadline_then_the_disk_leaves_and_the_write_is_acknowledged()
    {
        Open(checksums: true);
        int disk = Enumerable.Range(0, _world.Disks.Length).First(Holds);
        Hang(disk);
        long startNs = _world.Lane.NowNs;
        IoBuffer buffer = Filled(9);
        Assert.Equal(IoError.None, _world.Lane.Run(_world.Space.Write(0, buffer.AllowKeeping(), WriteFlags.None)));
        Assert.InRange(_world.Lane.NowNs - startNs, 9_750 * Millisecond, 11_000 * Millisecond);
        Assert.Equal(1, _world.MissingDisks);
        _world.Lane.Buffers.Return(buffer);

        _world.Disks[disk].Wake();   // what it does late is its own affair
        _world.Lane.Advance(1000 * Millisecond);
        Assert.Equal(0, _world.Disks[disk].ReusedBuffers);
        Assert.Equal(IoError.None, _world.Lane.Run(_world.Space.Flush()));
        Assert.Equal(9, Read().Span[0]);
    }

    [Fact]
    public void Without_redundancy_the_write_fails_and_the_disk_stays()
    {
        Open(checksums: true, copies: 1);
        int disk = Enumerable.Range(0, _world.Disks.Length).First(Holds);
        Hang(disk);
        Assert.Equal(IoError.TimedOut, _world.Lane.Run(_world.Space.Write(0, Filled(9), WriteFlags.None)));
        Assert.Equal(IoError.None, _world.Space.Fault);
        Assert.Equal(0, _world.MissingDisks);
        _world.Disks[disk].Wake();
        _world.Lane.Advance(1000 * Millisecond);
        Assert.Equal(IoError.None, _world.Lane.Run(_world.Space.Write(0, Filled(8), WriteFlags.None)));
        Assert.Equal(8, Read().Span[0]);
    }

    [Fact]
    public void A_disk_whose_slab_moves_away_while_it_hangs_is_asked_again_once_it_has_answered()
    {
        Open(checksums: false);
        Assert.Equal(3, _world.Disks.Length);
        int hung = Enumerable.Range(0, _world.Disks.Length).First(Holds);
        int position = Array.FindIndex(_world.Host.Row(0)!.Places, place => place.Disk == hung);
        int other = _world.Host.Row(0)!.Places[1 - position].Disk;
        int third = 3 - hung - other;
        Assert.True(ReadFromHung(out IoBuffer[] answers) > 0);
        Array.ForEach(answers, _world.Lane.Buffers.Return);
        SimPacer pacer = new(_world.Lane);
        LaneTask<RepairEnd> move = _world.Host.Move(0, position, third, pacer);
        _world.Lane.Advance(3000 * Millisecond);
        _world.Disks[hung].Wake();
        Assert.Equal(RepairEnd.Done, _world.Lane.Run(move));
        Assert.Equal(RepairEnd.Done, _world.Lane.Run(_world.Host.Move(0, position, hung, pacer)));

        Hang(other);
        long startNs = _world.Lane.NowNs;
        IoBuffer[] targets = [.. Enumerable.Range(0, 6).Select(_ => _world.Lane.Buffers.Rent(Length).AllowKeeping())];
        LaneTask<IoError>[] reads = Array.ConvertAll(targets, target => _world.Space.Read(0, target));
        Assert.True(_world.Disks[other].InFlight > 0, "no read went to the disk that hangs");
        Array.ForEach(reads, read => Assert.Equal(IoError.None, _world.Lane.Run(read)));
        Assert.InRange(_world.Lane.NowNs - startNs, 0, 350 * Millisecond);
    }

    private void Open(bool checksums, int copies = 2)
    {
        _world = SpaceWorld.New(new SpaceScenario(1, copies, checksums, 4096, 2), 5);
        Assert.Equal("", _world.Lane.Run(_world.Open(isNew: true)));
        Assert.Equal(IoError.None, _world.Lane.Run(_world.Space.Write(0, Filled(7), WriteFlags.None)));
        Assert.Equal(IoError.None, _world.Lane.Run(_world.Space.Flush()));
    }

    private void Hang(int disk) => _world.Disks[disk].Hang();

    /// <summary>Reads the same blocks several times at once while one disk hangs; how many of the reads went to it.</summary>
    private int ReadFromHung(out IoBuffer[] answers)
    {
        int disk = Enumerable.Range(0, _world.Disks.Length).First(Holds);
        Hang(disk);
        IoBuffer[] targets = [.. Enumerable.Range(0, 6).Select(_ => _world.Lane.Buffers.Rent(Length).AllowKeeping())];
        LaneTask<IoError>[] reads = Array.ConvertAll(targets, target => _world.Space.Read(0, target));
        int hung = _world.Disks[disk].InFlight;
        long startNs = _world.Lane.NowNs;
        Array.ForEach(reads, read => Assert.Equal(IoError.None, _world.Lane.Run(read)));
        Assert.InRange(_world.Lane.NowNs - startNs, 0, 350 * Millisecond);
        answers = Array.ConvertAll(targets, _world.Lane.Buffers.Settle);
        return hung;
    }

    private bool Holds(int disk)
    {
        long before = _world.Disks[disk].Requests;
        for (int i = 0; i < 4; i++)
        {
            _world.Lane.Buffers.Return(Read());
        }

        return _world.Disks[disk].Requests > before;
    }

    private IoBuffer Read()
    {
        IoBuffer buffer = _world.Lane.Buffers.Rent(Length).AllowKeeping();
        Assert.Equal(IoError.None, _world.Lane.Run(_world.Space.Read(0, buffer)));
        return _world.Lane.Buffers.Settle(buffer);
    }

    private IoBuffer Filled(byte value)
    {
        IoBuffer buffer = _world.Lane.Buffers.Rent(Length);
        buffer.Span.Fill(value);
        return buffer;
    }
}
