using System.Buffers.Binary;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Memory that outlives a process is a file that others may write to.</summary>
public sealed class CrashNotesTests : IDisposable
{
    private const int FirstCount = 20;
    private const int SecondCount = 24;

    private readonly BufferPool _buffers = new();

    public void Dispose() => _buffers.Dispose();

    [Fact]
    public void Notes_of_the_session_are_taken_over_in_order()
    {
        List<CrashNote> notes = new CrashNotes(Filled()).TakeOver(9);
        Assert.Equal([1L, 2L, 3L], notes.Select(static note => note.Block));
        Assert.Empty(new CrashNotes(Filled()).TakeOver(8));
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
        Assert.Empty(new CrashNotes(memory).TakeOver(9));
    }

    private IoBuffer Filled()
    {
        IoBuffer memory = _buffers.Rent(4096);   // 127 notes in each half
        CrashNotes notes = new(memory);
        notes.Start(9);
        notes.Add(1, 1);
        notes.AddAcknowledged(2, 2);
        notes.Switch();
        notes.AddZeroed(3);
        return memory;
    }
}
