using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// The slabs behind one row of a space. Position = column × copies + copy. A joining target takes new writes beside its
/// source while it is filled; it holds nothing to read from until a later mapping names it as the source.
/// </summary>
public sealed class RowMapping
{
    private readonly SlabRef[] _sources;
    private readonly SlabRef[] _joining;   // empty when nothing joins, else as long as the sources

    /// <summary>A row with its sources and, where targets are joining, one entry per position (or <see cref="SlabRef.None"/>).</summary>
    public RowMapping(SlabRef[] sources, SlabRef[]? joining = null, bool isInitialized = true)
    {
        _sources = sources;
        IsInitialized = isInitialized;
        _joining = joining is null || Array.TrueForAll(joining, static slab => slab.IsNone) ? [] : joining;
        if (_joining.Length != 0 && _joining.Length != _sources.Length)
        {
            throw new ArgumentException("A row has as many joining entries as sources, or none.", nameof(joining));
        }
    }

    /// <summary>Slab of each position.</summary>
    public ReadOnlySpan<SlabRef> Sources => _sources;

    /// <summary>
    /// Whether the slabs hold the row's own bytes: their checksum pages (or data) were cleared of a former owner's. A fixed disk owns
    /// slabs from its creation on and clears them before their first write; until then the row reads as zeros.
    /// </summary>
    public bool IsInitialized { get; }

    /// <summary>Whether any target is joining.</summary>
    public bool HasJoining => _joining.Length != 0;

    /// <summary>Target joining at a position, or <see cref="SlabRef.None"/>.</summary>
    public SlabRef Joining(int position) => _joining.Length == 0 ? SlabRef.None : _joining[position];

    /// <summary>Bytes of a row with this many positions, the largest it can be.</summary>
    internal static int LargestBytes(int positions) => 1 + (positions * 12);

    internal void Encode(ByteWriter to)
    {
        to.U8((byte)((HasJoining ? 1 : 0) | (IsInitialized ? 2 : 0)));
        Encode(_sources, to);
        Encode(_joining, to);
    }

    internal static RowMapping Decode(ref ByteReader from, int positions)
    {
        byte flags = from.U8();
        if (flags > 3)
        {
            from.Fail();
        }

        SlabRef[] sources = DecodeSlabs(ref from, positions);
        return new RowMapping(sources, (flags & 1) != 0 ? DecodeSlabs(ref from, positions) : null, (flags & 2) != 0);
    }

    private static void Encode(SlabRef[] slabs, ByteWriter to)
    {
        foreach (SlabRef slab in slabs)
        {
            to.U16(slab.Disk.Value);
            to.U32(slab.Slab);
        }
    }

    private static SlabRef[] DecodeSlabs(ref ByteReader from, int positions)
    {
        SlabRef[] slabs = new SlabRef[positions];
        for (int i = 0; i < positions; i++)
        {
            slabs[i] = new SlabRef(new DiskNumber(from.U16()), from.U32());
        }

        return slabs;
    }
}
