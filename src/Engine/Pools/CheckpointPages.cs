using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>One page of a state.</summary>
/// <param name="Key">Which part of the state it holds.</param>
/// <param name="Content">The immutable object it was made from: the same object means the same page. Null is never the same.</param>
/// <param name="Encode">Writes its records.</param>
internal readonly record struct StatePage(PageKey Key, object? Content, Action<ByteWriter> Encode);

/// <summary>
/// How a state is cut into checkpoint pages. Every page holds records that, applied in the order of the pages to the empty
/// state, make the state again.
/// </summary>
internal static class CheckpointPages
{
    /// <summary>Bytes of records that a page holds.</summary>
    internal const int Capacity = CheckpointPage.Capacity;

    /// <summary>Most bytes of a record that has a page for itself.</summary>
    internal const int LargestRecord = Capacity - 64;

    private const int RowsMappedOverhead = 22;

    /// <summary>Slices whose record fits in a page.</summary>
    internal const int SlicesPerPage = (Capacity - SlicesMapped.Overhead) / sizeof(ulong);

    /// <summary>Rows whose records fit in a page whatever the rows hold.</summary>
    internal static int RowsPerPage(int positions) =>
        Math.Max(1, Capacity / (RowMapping.LargestBytes(positions) + RowsMappedOverhead));

    /// <summary>Most pages that a state can take, without tables and root.</summary>
    internal static long CountUpTo(PoolState state)
    {
        long pages = 2L + state.Disks.Count + state.VirtualDisks.Count + state.Jobs.Count + state.TierTemplates.Count + state.Pins.Count;
        foreach (SpaceState space in state.Spaces.Values)
        {
            pages += 1 + (2L * space.Rows.LeafCount);
        }

        return pages + state.SliceMaps.Values.Sum(static map => (long)map.PagesMax);
    }

    /// <summary>The pages of a state, in the order in which they are applied.</summary>
    internal static IEnumerable<StatePage> Enumerate(PoolState state)
    {
        yield return Single(new PageKey(PageKind.Pool, default, 0, 0), state.Pool!, new PoolCreated(state.Pool!));
        foreach (DiskState disk in state.Disks.Values)
        {
            yield return PageOf(disk.Description, state.Held.GetValueOrDefault(disk.Description.Number));
        }

        foreach (VirtualDiskDescription disk in state.VirtualDisks.Values)
        {
            yield return Single(new PageKey(PageKind.VirtualDisk, disk.Id.Value, 0, 0), disk, new VirtualDiskCreated(disk));
        }

        foreach (SpaceState space in state.Spaces.Values)
        {
            PageKey key = new(PageKind.Space, default, space.Description.Id.Value, 0);
            yield return Single(key, space.Description, new SpaceCreated(space.Description));
        }

        foreach (StatePage page in state.Spaces.Values.SelectMany(PagesOf))
        {
            yield return page;
        }

        foreach ((VirtualDiskId disk, SliceMapState map) in state.SliceMaps)
        {
            foreach ((int first, SliceEntry[] entries) in map.Leaves().Where(static leaf => Array.Exists(leaf.Entries, static entry => entry.IsMapped)))
            {
                PageKey key = new(PageKind.Slices, disk.Value, 0, (uint)(first / SlicesPerPage));
                yield return Single(key, entries, new SlicesMapped(disk, first, entries));
            }
        }

        foreach (JobRecord job in state.Jobs.Values)
        {
            yield return Single(new PageKey(PageKind.Job, job.Job, 0, 0), job, job);
        }

        yield return new StatePage(new PageKey(PageKind.Counters, default, 0, 0), null, to => EncodeCounters(state, to));
        foreach (TierTemplate template in state.TierTemplates.Values)
        {
            yield return Single(new PageKey(PageKind.TierTemplate, template.Id, 0, 0), template, new TierTemplateSet(template));
        }

        foreach (PinSet pin in state.Pins.Values)
        {
            yield return Single(new PageKey(PageKind.Pin, pin.Id, 0, pin.Part), pin, pin);
        }
    }

    // A page of a disk that is away is written with every checkpoint: two objects make it. The record of what the disk held fits beside the
    // largest description (LargestRecord).
    private static StatePage PageOf(DiskDescription disk, DiskHeld? held) =>
        new(new PageKey(PageKind.Disk, default, disk.Number.Value, 0), held is null ? disk : null, to =>
        {
            MetadataCodec.Encode(new DiskAdded(disk), to);
            if (held is not null)
            {
                MetadataCodec.Encode(held, to);
            }
        });

    private static StatePage Single(PageKey key, object content, MetadataRecord record) =>
        new(key, content, to => MetadataCodec.Encode(record, to));

    private static void EncodeCounters(PoolState state, ByteWriter to)
    {
        MetadataCodec.Encode(state.Counters, to);
        foreach (SessionOpened session in state.Sessions)
        {
            MetadataCodec.Encode(session, to);
        }
    }

    private static IEnumerable<StatePage> PagesOf(SpaceState space)
    {
        uint number = space.Description.Id.Value;
        foreach ((int leaf, RowState?[] rows) in space.Rows.Leaves())
        {
            int first = leaf * space.Rows.LeafSize;
            if (Array.Exists(rows, static row => row is not null))
            {
                yield return new StatePage(
                    new PageKey(PageKind.Rows, default, number, (uint)leaf), rows, to => EncodeRows(space.Description, first, rows, to));
            }

            if (Array.Exists(rows, static row => row is { HasStale: true }))
            {
                yield return new StatePage(
                    new PageKey(PageKind.Stale, default, number, (uint)leaf), rows, to => EncodeStale(space.Description, first, rows, to));
            }
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
}
