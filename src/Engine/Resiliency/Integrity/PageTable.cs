using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>
/// The checksum pages of a space that are in memory, by place: a directory of chunks, each for neighbouring places. A page is two steps away
/// however large the space is, and a stretch of which no page is in memory takes none for it.
/// </summary>
internal sealed class PageTable(ILayout layout, SpaceShape shape)
{
    private const int ChunkBits = 7;   // a chunk of 1 KiB is for 256 MiB of data, less where slabs are smaller than a page's reach
    private const int ChunkPages = 1 << ChunkBits;

    private readonly int _perSlab = shape.PagesPerSlab;
    private readonly Stack<ChecksumPage?[]> _spare = new();
    private ChecksumPage?[]?[] _chunks = [];   // null where no place of the chunk is taken
    private int[] _taken = [];                 // places of each chunk that are

    internal ChecksumPage? Find(int row, int column, int index)
    {
        long number = NumberOf(row, column, index);
        ChecksumPage?[]?[] chunks = _chunks;
        long chunk = number >> ChunkBits;
        return (ulong)chunk < (ulong)chunks.Length && chunks[chunk] is { } places ? places[number & (ChunkPages - 1)] : null;
    }

    internal void Add(ChecksumPage page)
    {
        long number = NumberOf(page.Row.Index, page.Column, page.Index);
        int chunk = checked((int)(number >> ChunkBits));
        if (chunk >= _chunks.Length)
        {
            int length = Math.Max(chunk + 1, 2 * _chunks.Length);
            Array.Resize(ref _chunks, length);
            Array.Resize(ref _taken, length);
        }

        ChecksumPage?[] places = _chunks[chunk] ??= _spare.TryPop(out ChecksumPage?[]? spare) ? spare : new ChecksumPage?[ChunkPages];
        ref ChecksumPage? place = ref places[number & (ChunkPages - 1)];
        if (place is not null)
        {
            throw new InvalidOperationException($"Page {page.Index} of column {page.Column} of row {page.Row.Index} is in memory already.");
        }

        place = page;
        _taken[chunk]++;
    }

    internal void Remove(ChecksumPage page)
    {
        long number = NumberOf(page.Row.Index, page.Column, page.Index);
        long chunk = number >> ChunkBits;
        ChecksumPage?[] places = _chunks[chunk]!;
        Invariant.That(places[number & (ChunkPages - 1)] == page, "A page leaves the place that it is found at.");
        places[number & (ChunkPages - 1)] = null;
        if (--_taken[chunk] == 0)
        {
            _chunks[chunk] = null;
            _spare.Push(places);
        }
    }

    private long NumberOf(int row, int column, int index) => ((((long)row * layout.Columns) + column) * _perSlab) + index;
}
