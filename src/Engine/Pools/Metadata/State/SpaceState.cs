using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

/// <summary>A space in one version of a pool's state: its description and its rows. Never changed.</summary>
public sealed class SpaceState
{
    internal SpaceState(SpaceDescription description)
        : this(description, new PersistentArray<RowState>(new RowPages(description.Positions).PerPage), 0, default,
            MetadataCodec.Measure(new SpaceCreated(description)))
    {
    }

    private SpaceState(SpaceDescription description, PersistentArray<RowState> rows, int mappedRows, PageDemand demand, int descriptionBytes)
    {
        Description = description;
        Rows = rows;
        MappedRows = mappedRows;
        Demand = demand;
        DescriptionBytes = descriptionBytes;
    }

    /// <summary>Description of the space in the pool's metadata.</summary>
    public SpaceDescription Description { get; }

    /// <summary>Number of rows that have slabs.</summary>
    public int MappedRows { get; }

    /// <summary>Division of the rows into leaves.</summary>
    internal RowPages Pages => new(Description.Positions);

    /// <summary>Demand of the rows in a checkpoint, at most.</summary>
    internal PageDemand Demand { get; }

    /// <summary>Bytes of the record of its description.</summary>
    internal int DescriptionBytes { get; }

    /// <summary>The rows, in leaves that are whole pages of a checkpoint or share one.</summary>
    internal PersistentArray<RowState> Rows { get; }

    /// <summary>A row, or null where it has no slabs.</summary>
    public RowState? Row(int index) => (uint)index < SpaceDescription.MaxRows ? Rows[index] : null;

    /// <summary>The rows that have slabs, in order.</summary>
    public IEnumerable<(int Index, RowState Row)> EnumerateRows()
    {
        foreach ((int leaf, RowState?[] elements) in Rows.Leaves())
        {
            RowWalks.Note(elements.Length);
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
        int more = (row is null ? 0 : 1) - (Rows[index] is null ? 0 : 1);
        PersistentArray<RowState> rows = Rows.Set(index, row);
        if (more == 0)
        {
            return new SpaceState(Description, rows, MappedRows, Demand, DescriptionBytes);
        }

        int inLeaf = CountRows(rows.LeafOf(index));
        PageDemand demand = Demand - PageDemand.OfLeaf(Pages, inLeaf - more) + PageDemand.OfLeaf(Pages, inLeaf);
        return new SpaceState(Description, rows, MappedRows + more, demand, DescriptionBytes);
    }

    internal static int CountRows(ReadOnlySpan<RowState?> leaf)
    {
        int count = 0;
        foreach (RowState? row in leaf)
        {
            count += row is null ? 0 : 1;
        }

        return count;
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

    /// <summary>Whether a copy misses data. Marks on a row that was never written mean nothing: its first write clears every copy.</summary>
    public bool MissesData => HasStale && Mapping.IsInitialized;

    /// <summary>Regions of which the copy at a position misses data, bit per region.</summary>
    public ushort MissingAt(int position) => MissesData ? Stale(position) : (ushort)0;

    /// <summary>Stale regions of a position: bit r is the r-th sixteenth of the slab.</summary>
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
