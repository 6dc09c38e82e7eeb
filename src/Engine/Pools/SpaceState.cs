using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

/// <summary>A space in one version of a pool's state: its description and its rows. Never changed.</summary>
public sealed class SpaceState
{
    internal SpaceState(SpaceDescription description)
        : this(description, new PersistentArray<RowState>(CheckpointPages.RowsPerPage(description.Positions)), 0)
    {
    }

    private SpaceState(SpaceDescription description, PersistentArray<RowState> rows, int mappedRows)
    {
        Description = description;
        Rows = rows;
        MappedRows = mappedRows;
    }

    /// <summary>What the pool remembers of it.</summary>
    public SpaceDescription Description { get; }

    /// <summary>Number of rows that have slabs.</summary>
    public int MappedRows { get; }

    /// <summary>The rows, in leaves that are also the pages of a checkpoint.</summary>
    internal PersistentArray<RowState> Rows { get; }

    /// <summary>A row, or null where it has no slabs.</summary>
    public RowState? Row(int index) => (uint)index < SpaceDescription.MaxRows ? Rows[index] : null;

    /// <summary>The rows that have slabs, in order.</summary>
    public IEnumerable<(int Index, RowState Row)> EnumerateRows()
    {
        foreach ((int leaf, RowState?[] elements) in Rows.Leaves())
        {
            for (int i = 0; i < elements.Length; i++)
            {
                if (elements[i] is { } row)
                {
                    yield return ((leaf * Rows.LeafSize) + i, row);
                }
            }
        }
    }

    internal SpaceState WithRow(int index, RowState? row)
    {
        int mapped = MappedRows + (row is null ? 0 : 1) - (Rows[index] is null ? 0 : 1);
        return new SpaceState(Description, Rows.Set(index, row), mapped);
    }
}

/// <summary>A row that has slabs, in one version of a pool's state. Never changed.</summary>
public sealed class RowState
{
    private readonly ushort[] _stale;   // empty when nothing is stale, else one mask per position

    internal RowState(RowMapping mapping)
        : this(mapping, [])
    {
    }

    private RowState(RowMapping mapping, ushort[] stale)
    {
        Mapping = mapping;
        _stale = Array.TrueForAll(stale, static mask => mask == 0) ? [] : stale;
    }

    /// <summary>Its slabs.</summary>
    public RowMapping Mapping { get; }

    /// <summary>Whether any region of any position is stale.</summary>
    public bool HasStale => _stale.Length != 0;

    /// <summary>Stale regions of a position: bit r stands for the r-th sixteenth of the slab.</summary>
    public ushort Stale(int position) => _stale.Length == 0 ? (ushort)0 : _stale[position];

    internal RowState WithStale(int position, ushort regions)
    {
        ushort[] stale = HasStale ? (ushort[])_stale.Clone() : new ushort[Mapping.Sources.Length];
        stale[position] = regions;
        return new RowState(Mapping, stale);
    }

    /// <summary>The row under another mapping: marks stay where the source stays.</summary>
    internal RowState With(RowMapping mapping)
    {
        if (!HasStale)
        {
            return new RowState(mapping);
        }

        ushort[] stale = new ushort[_stale.Length];
        for (int i = 0; i < stale.Length; i++)
        {
            stale[i] = mapping.Sources[i] == Mapping.Sources[i] ? _stale[i] : (ushort)0;
        }

        return new RowState(mapping, stale);
    }
}
