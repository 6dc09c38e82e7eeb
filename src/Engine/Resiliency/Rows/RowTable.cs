using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// The rows of a space by index.
//
// Invariants
//  1. A row that is being made, moved before its first write or freed is in the set of changing rows; one operation changes a row at a time.
//  2. Rows are found only within the length of the space. Rows beyond it, left by a host that stopped while it grew the disk, are replaced when it grows.

/// <summary>The rows of a space.</summary>
internal sealed class RowTable
{
    private readonly ILayout _layout;
    private readonly SpaceShape _shape;
    private readonly HashSet<int> _changing = [];
    private SpaceRow?[] _rows;

    internal RowTable(ILayout layout, in SpaceShape shape, long length, IReadOnlyList<SpaceRowMap> rows)
    {
        _layout = layout;
        _shape = shape;
        Length = length;
        _rows = new SpaceRow?[RowsFor(length)];
        foreach (SpaceRowMap map in rows)
        {
            if (map.Index < _rows.Length)
            {
                _rows[map.Index] = New(map);
            }
        }
    }

    /// <summary>Bytes of address space.</summary>
    internal long Length { get; private set; }

    internal int Count => _rows.Length;

    /// <summary>Whether any row is being made, moved or freed.</summary>
    internal bool AnyChanging => _changing.Count > 0;

    internal SpaceRow? this[int index] => _rows[index];

    public Enumerator GetEnumerator()
    {
        RowWalks.Note(_rows.Length);
        return new Enumerator(_rows);
    }

    internal SpaceRow New(SpaceRowMap map) => new(_layout, _shape, map);

    internal void Grow(long length)
    {
        Array.Resize(ref _rows, Math.Max(_rows.Length, RowsFor(length)));
        Length = Math.Max(Length, length);
    }

    internal void Put(SpaceRow row) => _rows[row.Index] = row;

    internal void Remove(SpaceRow row) => _rows[row.Index] = null;

    /// <summary>Takes the right to change a row; false while another operation has it.</summary>
    internal bool TryBeginChange(int index) => _changing.Add(index);

    internal void EndChange(int index) => _changing.Remove(index);

    private int RowsFor(long length) => checked((int)((length + _layout.RowSize - 1) / _layout.RowSize));

    /// <summary>Goes over the rows in their order; an empty place gives null.</summary>
    internal struct Enumerator(SpaceRow?[] rows)
    {
        private int _at = -1;

        public readonly SpaceRow? Current => rows[_at];

        public bool MoveNext() => ++_at < rows.Length;
    }
}
