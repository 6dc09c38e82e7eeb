using TierSpaces.Engine.Primitives;

namespace TierSpaces.Fuzz;

/// <summary>A store that checks what the server owes it, completes at once and forgets.</summary>
internal sealed class MemoryStore(long length) : IBlockStore
{
    private const int Block = 512;

    /// <summary>Kinds of call there were.</summary>
    internal int Calls { get; private set; }

    public StoreGeometry Geometry => new(length, Block, Block, 1 << 20);

    public LaneTask<IoError> Read(long offset, IoBuffer target) => Note(1, offset, target.Length, target);

    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags) => Note(2, offset, source.Length, source);

    public LaneTask<IoError> Flush() => Note(4, 0, Block, null);

    public LaneTask<IoError> Unmap(long offset, long size) => Note(8, offset, size, null);

    public LaneTask<IoError> WriteZeroes(long offset, long size, WriteFlags flags) => Note(16, offset, size, null);

    public LaneTask<IoError> Status(long offset, long size, List<StoreExtent> extents)
    {
        extents.Add(new StoreExtent(size, ExtentState.Data));
        return Note(32, offset, size, null);
    }

    private LaneTask<IoError> Note(int kind, long offset, long size, IoBuffer? buffer)
    {
        Calls |= kind;
        bool fits = offset >= 0 && size > 0 && offset <= length - size && (offset | size) % Block == 0;
        if (!fits || (buffer is { } memory && (!memory.IsAligned(Block) || memory.Length > 1 << 20)))
        {
            throw new WrongAnswerException($"the server asks its store for {size} bytes at {offset}");
        }

        buffer?.Span.Clear();
        return LaneTask.FromResult(IoError.None);
    }
}
