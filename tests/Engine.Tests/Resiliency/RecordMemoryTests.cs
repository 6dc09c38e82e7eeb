using System.Buffers.Binary;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Records of writes in memory that outlives a process, and which others may write to.</summary>
public sealed class RecordMemoryTests : IDisposable
{
    private const int FirstCount = 20;
    private const int SecondCount = 24;
    private const int Slots = 127;

    private readonly BufferPool _buffers = new();

    public void Dispose() => _buffers.Dispose();

    [Fact]
    public void Records_of_the_session_are_taken_over_in_order()
    {
        FoundRecords found = new RecordMemory(Filled()).TakeOver(9);
        Assert.Equal(WriteKnowledge.Whole, found.Knowledge);
        Assert.Equal([1L, 2L, 3L], found.Records.Select(static record => record.Block));
        Assert.Equal([true, false, true], found.Records.Select(static record => record.IsAcknowledged));
    }

    [Fact]
    public void Records_of_another_session_say_nothing()
    {
        FoundRecords found = new RecordMemory(Filled()).TakeOver(8);
        Assert.Equal(WriteKnowledge.None, found.Knowledge);
        Assert.Empty(found.Records);
    }

    [Theory]
    [InlineData(FirstCount, int.MaxValue)]
    [InlineData(SecondCount, int.MaxValue)]
    [InlineData(SecondCount, -1)]
    [InlineData(FirstCount, Slots + 1)]
    public void More_records_than_there_is_room_for_are_foreign(int offset, int count)
    {
        IoBuffer memory = Filled();
        BinaryPrimitives.WriteInt32LittleEndian(memory.Span[offset..], count);
        FoundRecords found = new RecordMemory(memory).TakeOver(9);
        Assert.Equal(WriteKnowledge.None, found.Knowledge);
        Assert.Empty(found.Records);
    }

    [Fact]
    public void A_record_without_room_is_never_made()
    {
        IoBuffer memory = Memory();
        RecordMemory records = new(memory);
        records.Start(9, WriteKnowledge.Whole);
        SectorChecksums sectors = default;
        while (records.Room >= RecordMemory.SlotsPerRecord)
        {
            records.Add(1, 1, sectors);
        }

        Assert.Throws<InvariantException>(() => records.Add(1, 1, default));
        records.AddZeroed(2);
        Assert.Throws<InvariantException>(() => records.AddZeroed(3));
        Assert.Equal(43, new RecordMemory(memory).TakeOver(9).Records.Count);
    }

    [Fact]
    public void A_void_record_does_not_count()
    {
        IoBuffer memory = Memory();
        RecordMemory records = new(memory);
        records.Start(9, WriteKnowledge.Whole);
        records.Add(1, 1, default);
        records.Void(records.Add(2, 2, default));
        Assert.Equal([1L], new RecordMemory(memory).TakeOver(9).Records.Select(static record => record.Block));
    }

    // The process may die between a switch and the end of the round: what was carried over is there twice.
    [Fact]
    public void A_carried_record_outlives_the_half_that_it_came_from()
    {
        IoBuffer memory = Memory();
        RecordMemory records = new(memory);
        records.Start(9, WriteKnowledge.Whole);
        records.Acknowledge(records.Add(1, 10, default));
        int open = records.Add(1, 11, default);
        records.Switch();
        records.Acknowledge(records.Carry(open, RecordMemory.SlotsPerRecord));
        Assert.Equal([10u, 11u, 11u], new RecordMemory(memory).TakeOver(9).Records.Select(static record => record.Checksum));
        records.Switch();
        WriteRecord left = Assert.Single(new RecordMemory(memory).TakeOver(9).Records);
        Assert.Equal((1L, 11u, true), (left.Block, left.Checksum, left.IsAcknowledged));
    }

    [Fact]
    public void The_session_that_an_opening_is_about_to_begin_counts_too()
    {
        IoBuffer memory = Filled();
        RecordMemory opening = new(memory);
        opening.TakeOver(9);
        opening.NameSuccessor(10);
        Assert.Equal(3, new RecordMemory(memory).TakeOver(10).Records.Count);
        RecordMemory foreign = new(memory);
        Assert.Empty(foreign.TakeOver(77).Records);
        foreign.NameSuccessor(78);
        Assert.Equal(WriteKnowledge.None, new RecordMemory(memory).TakeOver(78).Knowledge);
    }

    [Fact]
    public void What_an_earlier_stop_left_undecided_stays_so_until_it_is_decided()
    {
        IoBuffer memory = Memory();
        RecordMemory records = new(memory);
        records.Start(9, WriteKnowledge.None);
        Assert.Equal(WriteKnowledge.None, new RecordMemory(memory).TakeOver(9).Knowledge);
        records.EndUnresolved();
        Assert.Equal(WriteKnowledge.Whole, new RecordMemory(memory).TakeOver(9).Knowledge);
    }

    [Fact]
    public void A_disk_of_another_incarnation_may_have_lost_its_cache()
    {
        RecordMemory records = new(Memory());
        records.Start(9, WriteKnowledge.Whole);
        records.AddDisk(3, 5);
        records.AddDisk(3 + RecordMemory.DisksMax, 6);
        Assert.Empty(records.FindLostCaches(disk => disk == 3 ? 5u : 6u));
        Assert.Equal([3], records.FindLostCaches(static _ => 6));
        Assert.Empty(records.FindLostCaches(static _ => null));   // away
        records.AddDisk(3, 6);                                    // it is back: what it held unflushed may be gone all the same
        Assert.Equal([3], records.FindLostCaches(static _ => 6));
        records.SetDisk(3, 6);
        Assert.Empty(records.FindLostCaches(static _ => 6));
    }

    [Fact]
    public void The_end_of_the_log_is_known_over_a_process()
    {
        IoBuffer memory = Filled();
        EndStatement end = new(new RecordMemory(memory), StatedRing.Log);
        end.State(9, 7, 6);
        Assert.Equal((0ul, 0ul), new RecordMemory(memory).LogEnd(9));   // of a memory that is not known to be its own it says nothing
        RecordMemory opening = new(memory);
        opening.TakeOver(9);
        new EndStatement(opening, StatedRing.Log).State(9, 7, 6);
        Assert.Equal((7ul, 6ul), new RecordMemory(memory).LogEnd(9));
        Assert.Equal((0ul, 0ul), new RecordMemory(memory).LogEnd(8));
        opening.Start(10, WriteKnowledge.Whole);
        Assert.Equal((7ul, 6ul), new RecordMemory(memory).LogEnd(9));   // the first block of the new session may be the one that is missing
        Assert.Equal((7ul, 6ul), new RecordMemory(memory).LogEnd(10));
    }

    [Fact]
    public void The_end_of_a_ring_counts_for_the_session_that_stated_it()
    {
        RecordMemory memory = new(Memory());
        memory.Start(9, WriteKnowledge.Whole);
        EndStatement end = new(memory, StatedRing.Cache);
        end.State(77, 20, 12);
        Assert.Equal(20ul, end.Required(77));
        Assert.Equal(0ul, end.Required(78));
        end.RequireDurableOnly();
        Assert.Equal(12ul, end.Required(77));
    }

    [Fact]
    public void Records_of_the_former_versions_say_nothing_of_overwrites()
    {
        IoBuffer memory = Memory();
        memory.Span.Clear();
        BinaryPrimitives.WriteUInt64LittleEndian(memory.Span, 0x31455455_4F4E5354);
        BinaryPrimitives.WriteUInt64LittleEndian(memory.Span[8..], 9);
        BinaryPrimitives.WriteInt32LittleEndian(memory.Span[FirstCount..], 1);
        BinaryPrimitives.WriteUInt64LittleEndian(memory.Span[32..], 5 | (1UL << 62));   // its flag of acknowledged writes
        BinaryPrimitives.WriteUInt32LittleEndian(memory.Span[40..], 77);
        RecordMemory opening = new(memory);
        opening.AddDisk(1, 2);
        FoundRecords found = opening.TakeOver(9);
        Assert.Equal(WriteKnowledge.None, found.Knowledge);
        Assert.Equal([new WriteRecord(5, 77, false, false, null)], found.Records);
    }

    private IoBuffer Memory() => _buffers.Rent(BufferSize).Slice(0, RecordMemory.SizeFor(Slots));

    private static int BufferSize => (RecordMemory.SizeFor(Slots) + 4095) / 4096 * 4096;

    private IoBuffer Filled()
    {
        IoBuffer memory = Memory();
        RecordMemory records = new(memory);
        records.Start(9, WriteKnowledge.Whole);
        records.Acknowledge(records.Add(1, 1, default));
        records.Add(2, 2, default);
        records.Switch();
        records.AddZeroed(3);
        return memory;
    }
}
