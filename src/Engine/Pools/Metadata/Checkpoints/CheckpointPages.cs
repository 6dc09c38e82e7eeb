using System.Collections.Immutable;
using System.Runtime.CompilerServices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>One page of a state.</summary>
/// <param name="Key">Part of the state that the page holds.</param>
/// <param name="Content">The immutable objects it was made from: the same objects mean the same page. None: never the same.</param>
/// <param name="Encode">Writes its records.</param>
internal readonly record struct StatePage(PageKey Key, object[] Content, Action<ByteWriter> Encode)
{
    /// <summary>Whether a page made from these objects under the same key holds the same.</summary>
    internal bool IsMadeFrom(object[] content)
    {
        bool isSame = Content.Length > 0 && Content.Length == content.Length;
        for (int i = 0; i < Content.Length && isSame; i++)
        {
            isSame = ReferenceEquals(Content[i], content[i]);
        }

        return isSame;
    }
}

// Cuts a state into checkpoint pages. Every page holds records that, applied in the order of the pages to the empty state, make the state
// again. Any reader applies the records of a page one after the other, so pages may be cut otherwise in every release.
//
// Descriptions of one kind fill pages in their order: a description that changes length moves those behind it, which are few pages. A leaf of rows
// with its stale marks has a page, or shares one when it takes at most half.
//
// Invariants
//  1. Two ways to cut never use one key for different contents: keys of pages cut this way have the highest bit of their index set. Only the pages
//     of pool, counters and slices are as they always were.
//  2. CountUpTo never falls short of the pages that Enumerate gives.
//  3. CountUpTo rises only when something is added or a description grows: not by freeing, repairing or marking, nor by a disk that leaves.

/// <summary>Cuts a state into checkpoint pages.</summary>
internal static class CheckpointPages
{
    /// <summary>Bytes of records that a page holds.</summary>
    internal const int Capacity = CheckpointPage.Capacity;

    /// <summary>Most bytes of a record that has a page for itself.</summary>
    internal const int LargestRecord = Capacity - HeldBytes;

    /// <summary>Slices whose record fits in a page.</summary>
    internal const int SlicesPerPage = (Capacity - SlicesMapped.Overhead) / sizeof(ulong);

    private const int HeldBytes = 64;   // kept beside each disk for the record of what it held when it left
    private const uint Packed = 1u << 31;

    // Descriptions never change, nor do their collections, and commits count pages often.
    private static readonly ConditionalWeakTable<object, StrongBox<int>> s_lengths = [];
    private static readonly ConditionalWeakTable<object, StrongBox<long>> s_counts = [];

    /// <summary>Most pages that a state can take, without tables and root.</summary>
    internal static long CountUpTo(PoolState state)
    {
        long pages = 2L + CountOf(state.Disks.Values, static disk => LengthOf(disk.Description)) + CountOf(
            state.Spaces.Values, static space => space.DescriptionBytes)
            + CountOf(state.VirtualDisks) + CountOf(state.Jobs) + CountOf(state.TierTemplates) + CountOf(state.Pins);
        PageDemand rows = default;
        foreach (SpaceState space in state.Spaces.Values)
        {
            rows += space.Demand;
        }

        return pages + rows.Pages + state.SliceMaps.Values.Sum(static map => (long)map.PagesMax);
    }

    /// <summary>The pages of a state, in the order in which they are applied.</summary>
    internal static IEnumerable<StatePage> Enumerate(PoolState state)
    {
        yield return new StatePage(new PageKey(PageKind.Pool, default, 0, 0), [state.Pool!], to => MetadataCodec.Encode(new PoolCreated(state.Pool!), to));
        IEnumerable<StatePage> descriptions = Pack(PageKind.Disk, DisksOf(state)).Concat(Pack(PageKind.VirtualDisk, PartsOf(state.VirtualDisks.Values)))
            .Concat(Pack(PageKind.Space, PartsOf(state.Spaces.Values.Select(static space => space.Description))));
        foreach (StatePage page in descriptions.Concat(PagesOfRows(state)))
        {
            yield return page;
        }

        foreach ((VirtualDiskId disk, SliceMapState map) in state.SliceMaps)
        {
            foreach ((int first, SliceEntry[] entries) in map.Leaves().Where(static leaf => Array.Exists(leaf.Entries, static entry => entry.IsMapped)))
            {
                PageKey key = new(PageKind.Slices, disk.Value, 0, (uint)(first / SlicesPerPage));
                yield return new StatePage(key, [entries], to => MetadataCodec.Encode(new SlicesMapped(disk, first, entries), to));
            }
        }

        foreach (StatePage page in Pack(PageKind.Job, PartsOf(state.Jobs.Values)))
        {
            yield return page;
        }

        yield return new StatePage(new PageKey(PageKind.Counters, default, 0, 0), [], to => EncodeCounters(state, to));
        foreach (StatePage page in Pack(PageKind.TierTemplate, PartsOf(state.TierTemplates.Values)).Concat(Pack(PageKind.Pin, PartsOf(state.Pins.Values))))
        {
            yield return page;
        }
    }

    private static IEnumerable<PagePart> DisksOf(PoolState state) => state.Disks.Values.Select(disk =>
    {
        DiskDescription description = disk.Description;
        MetadataRecord? held = state.Held.GetValueOrDefault(description.Number);
        object[] content = held is null ? [description] : [description, held];
        return new PagePart(content, LengthOf(description), to =>
        {
            MetadataCodec.Encode(RecordOf(description), to);
            if (held is not null)
            {
                MetadataCodec.Encode(held, to);
            }
        });
    });

    private static IEnumerable<PagePart> PartsOf(IEnumerable<object> descriptions) =>
        descriptions.Select(static content => new PagePart([content], LengthOf(content), to => MetadataCodec.Encode(RecordOf(content), to)));

    private static MetadataRecord RecordOf(object content) => content switch
    {
        DiskDescription disk => new DiskAdded(disk),
        VirtualDiskDescription disk => new VirtualDiskCreated(disk),
        SpaceDescription space => new SpaceCreated(space),
        TierTemplate template => new TierTemplateSet(template),
        _ => (MetadataRecord)content,
    };

    private static int LengthOf(object content)
    {
        if (!s_lengths.TryGetValue(content, out StrongBox<int>? length))
        {
            length = s_lengths.GetValue(
                content, static content => new StrongBox<int>(MetadataCodec.Measure(RecordOf(content)) + (content is DiskDescription ? HeldBytes : 0)));
        }

        return length.Value;
    }

    private static long CountOf<TKey, TContent>(ImmutableSortedDictionary<TKey, TContent> descriptions)
        where TKey : notnull
        where TContent : class
    {
        if (!s_counts.TryGetValue(descriptions, out StrongBox<long>? count))
        {
            count = s_counts.GetValue(
                descriptions, static all => new StrongBox<long>(CountOf(((ImmutableSortedDictionary<TKey, TContent>)all).Values, LengthOf)));
        }

        return count.Value;
    }

    private static long CountOf<T>(IEnumerable<T> content, Func<T, int> length)
    {
        long pages = 0;
        int room = 0;
        foreach (T one in content)
        {
            int bytes = length(one);
            bool fits = bytes <= room;
            pages += fits ? 0 : 1;
            room = (fits ? room : Capacity) - bytes;
        }

        return pages;
    }

    /// <summary>Parts in their order, as many to a page as fit.</summary>
    private static IEnumerable<StatePage> Pack(PageKind kind, IEnumerable<PagePart> parts)
    {
        List<PagePart> page = [];
        uint count = 0;
        int room = Capacity;
        foreach (PagePart part in parts)
        {
            if (part.Bytes > room && page.Count > 0)
            {
                yield return PageOf(kind, count++, page);
                page = [];
                room = Capacity;
            }

            page.Add(part);
            room -= part.Bytes;
        }

        if (page.Count > 0)
        {
            yield return PageOf(kind, count, page);
        }
    }

    private static StatePage PageOf(PageKind kind, uint number, List<PagePart> parts) => new(
        new PageKey(kind, default, 0, Packed | number), [.. parts.SelectMany(static part => part.Content)], to => parts.ForEach(part => part.Encode(to)));

    private static void EncodeCounters(PoolState state, ByteWriter to)
    {
        MetadataCodec.Encode(state.Counters, to);
        foreach (SessionOpened session in state.Sessions)
        {
            MetadataCodec.Encode(session, to);
        }
    }

    private static IEnumerable<StatePage> PagesOfRows(PoolState state)
    {
        List<PagePart> shared = [];
        foreach (SpaceState space in state.Spaces.Values)
        {
            foreach ((int leaf, RowState?[] rows) in space.Rows.Leaves())
            {
                int bytes = space.Pages.Bytes(SpaceState.CountRows(rows));
                if (bytes > PageDemand.SharedBytesMax)
                {
                    foreach (StatePage page in PagesOf(space, leaf, rows))
                    {
                        yield return page;
                    }
                }
                else if (bytes > 0)
                {
                    shared.Add(new PagePart([rows], bytes, to => EncodeLeaf(space, leaf, rows, to)));
                }
            }
        }

        foreach (StatePage page in Pack(PageKind.Rows, shared))
        {
            yield return page;
        }
    }

    private static IEnumerable<StatePage> PagesOf(SpaceState space, int leaf, RowState?[] rows)
    {
        PageKey key = new(PageKind.Rows, default, space.Description.Id.Value, Packed | (uint)leaf);
        if (space.Pages.HoldsMarks)
        {
            yield return new StatePage(key, [rows], to => EncodeLeaf(space, leaf, rows, to));
            yield break;
        }

        int first = leaf * space.Rows.LeafSize;
        yield return new StatePage(key, [rows], to => EncodeRows(space.Description, first, rows, to));
        if (HasStale(rows))
        {
            yield return new StatePage(key with { Kind = PageKind.Stale }, [rows], to => EncodeStale(space.Description, first, rows, to));
        }
    }

    private static bool HasStale(RowState?[] rows) => Array.Exists(rows, static row => row is { HasStale: true });

    /// <summary>Writes the rows of a leaf with their stale marks.</summary>
    internal static void EncodeLeaf(SpaceState space, int leaf, RowState?[] rows, ByteWriter to)
    {
        int first = leaf * space.Rows.LeafSize;
        EncodeRows(space.Description, first, rows, to);
        if (HasStale(rows))
        {
            EncodeStale(space.Description, first, rows, to);
        }
    }

    private static void EncodeRows(SpaceDescription space, int first, RowState?[] rows, ByteWriter to)
    {
        for (int i = 0; i < rows.Length; i++)
        {
            int start = i;
            while (i < rows.Length && rows[i] is not null)
            {
                i++;
            }

            if (i > start)
            {
                RowMapping[] run = Array.ConvertAll(rows[start..i], static row => row!.Mapping);
                MetadataCodec.Encode(new RowsMapped(space.Id, first + start, space.Positions, run), to);
            }
        }
    }

    private static void EncodeStale(SpaceDescription space, int first, RowState?[] rows, ByteWriter to)
    {
        List<StaleEntry> entries = [];
        for (int i = 0; i < rows.Length; i++)
        {
            for (int position = 0; position < space.Positions; position++)
            {
                if (rows[i]?.Stale(position) is > 0 and var regions)
                {
                    entries.Add(new StaleEntry(first + i, (ushort)position, regions));
                }
            }
        }

        MetadataCodec.Encode(new StaleMarked(space.Id, [.. entries]), to);
    }

    /// <summary>Records that stay together in a page.</summary>
    /// <param name="Content">The immutable objects that they are made from.</param>
    /// <param name="Bytes">Most bytes of them.</param>
    /// <param name="Encode">Writes them.</param>
    private sealed record PagePart(object[] Content, int Bytes, Action<ByteWriter> Encode);
}
