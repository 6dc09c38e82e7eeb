using System.Buffers.Binary;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Memory that outlives a process is a file that others may write to.</summary>
public sealed class FirstWriteJournalTests : IDisposable
{
    private const int FirstCount = 20;
    private const int SecondCount = 24;

    private readonly BufferPool _buffers = new();

    public void Dispose() => _buffers.Dispose();

    [Fact]
    public void Notes_of_the_session_are_taken_over_in_order()
    {
        List<FirstWriteRecord> notes = new FirstWriteJournal(Filled()).TakeOver(9);
        Assert.Equal([1L, 2L, 3L], notes.Select(static note => note.Block));
        Assert.Empty(new FirstWriteJournal(Filled()).TakeOver(8));
    }

    [Theory]
    [InlineData(FirstCount, int.MaxValue)]
    [InlineData(SecondCount, int.MaxValue)]
    [InlineData(SecondCount, -1)]
    [InlineData(FirstCount, 128)]
    public void More_notes_than_there_is_room_for_are_nobodys(int offset, int count)
    {
        IoBuffer memory = Filled();
        BinaryPrimitives.WriteInt32LittleEndian(memory.Span[offset..], count);
        Assert.Empty(new FirstWriteJournal(memory).TakeOver(9));
    }

    [Fact]
    public void A_note_without_room_is_never_made()
    {
        IoBuffer memory = _buffers.Rent(4096);   // 127 slots in each half
        FirstWriteJournal notes = new(memory);
        notes.Start(9);
        byte[] block = new byte[4096];
        while (notes.Room >= FirstWriteJournal.SlotsPerRecord)
        {
            notes.Add(1, 1, block);
        }

        Assert.Throws<InvariantException>(() => notes.Add(1, 1, block));
        notes.AddZeroed(2);
        Assert.Throws<InvariantException>(() => notes.AddZeroed(3));
        Assert.Equal(43, new FirstWriteJournal(memory).TakeOver(9).Count);
    }

    [Fact]
    public void Notes_of_the_former_version_count_where_all_of_a_block_matches()
    {
        IoBuffer memory = _buffers.Rent(4096);
        new FirstWriteJournal(memory).Start(9);
        memory.Span[7] = 0x31;                                                // its magic number
        BinaryPrimitives.WriteInt32LittleEndian(memory.Span[FirstCount..], 1);
        BinaryPrimitives.WriteUInt64LittleEndian(memory.Span[32..], 5 | (1UL << 62));   // acknowledged
        BinaryPrimitives.WriteUInt32LittleEndian(memory.Span[40..], 77);
        Assert.Equal([new FirstWriteRecord(5, 77, false, null)], new FirstWriteJournal(memory).TakeOver(9));
        Assert.False(FirstWriteRecord.Explain(new FirstWriteJournal(memory).TakeOver(9), new byte[4096]));
    }

    private IoBuffer Filled()
    {
        IoBuffer memory = _buffers.Rent(4096);   // 127 notes in each half
        FirstWriteJournal notes = new(memory);
        notes.Start(9);
        notes.Add(1, 1, new byte[4096]);
        notes.Add(2, 2, new byte[4096]);
        notes.Switch();
        notes.AddZeroed(3);
        return memory;
    }
}
