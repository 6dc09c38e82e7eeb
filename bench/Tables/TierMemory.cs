using System.Globalization;
using System.Text;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Bench.Tables;

/// <summary>A tiered disk whose metadata is measured.</summary>
/// <param name="SizeBytes">Its size.</param>
/// <param name="SliceSize">Bytes of a slice.</param>
/// <param name="Stride">One stretch of <see cref="TierMemory.Stretch"/> slices in so many is mapped; 1: every slice.</param>
internal sealed record TierMemoryCase(long SizeBytes, int SliceSize, int Stride)
{
    internal long Slices => SizeBytes / SliceSize;

    /// <summary>The stretches that are mapped: first slice and number of slices.</summary>
    internal IEnumerable<(int First, int Count)> Stretches
    {
        get
        {
            for (long first = 0; first < Slices; first += (long)TierMemory.Stretch * Stride)
            {
                yield return ((int)first, (int)Math.Min(TierMemory.Stretch, Slices - first));
            }
        }
    }
}

/// <summary>Memory that was kept on the managed heap, in bytes.</summary>
/// <param name="Case">The measured case.</param>
/// <param name="Map">The slice map.</param>
/// <param name="EmptyHeat">A heat map in which nothing was touched: the size of the disk takes it.</param>
/// <param name="Heat">The heat of the mapped slices, all touched.</param>
/// <param name="Slots">Which slots of the tiers are free, which the map does not say: the size of the disk takes it.</param>
/// <param name="Mapped">Slices mapped.</param>
internal sealed record TierMemoryResult(TierMemoryCase Case, long Map, long EmptyHeat, long Heat, long Slots, long Mapped)
{
    /// <summary>Most MiB that map and heat of a mapped TiB may take.</summary>
    internal const double Required = 12.5;

    private const double TiB = 1L << 40;

    /// <summary>MiB of map and heat for a mapped TiB of a disk of this size all of which is mapped.</summary>
    internal double PerTiB => ((EmptyHeat / (Case.SizeBytes / TiB)) + ((Map + Heat) / (Mapped * (double)Case.SliceSize / TiB))) / (1 << 20);

    internal string Row => string.Create(
        CultureInfo.InvariantCulture,
        $"| {SizeText} | {Case.SliceSize >> 20} MiB | {(Case.Stride == 1 ? "all" : $"1 in {Case.Stride}")} | {Map / 1024.0:0.0} | {(EmptyHeat + Heat) / 1024.0:0.0} | {Slots / 1024.0:0.0} | {PerTiB:0.00}{(PerTiB > Required ? " **missed**" : "")} | ≤ {Required} |");

    private string SizeText =>
        Case.SizeBytes >= 1L << 50 ? $"{Case.SizeBytes >> 50} PiB" : Case.SizeBytes >= 1L << 40 ? $"{Case.SizeBytes >> 40} TiB" : $"{Case.SizeBytes >> 30} GiB";
}

/// <summary>Memory that the slice map and the heat of a tiered disk take, from 1 GiB to 1 PiB: metadata only, no disk is there.</summary>
internal static class TierMemory
{
    internal const string Title = "Memory of tiered disks";

    /// <summary>Slices that are mapped side by side: they fill their pages in map and heat.</summary>
    internal const int Stretch = CheckpointPages.SlicesPerPage * HeatMap.PageSlices;

    private const int MiB = 1 << 20;
    private const long GiB = 1L << 30;
    private const int FastShare = 8;         // one record in so many is of the fast tier
    private const int SlicesOfRecord = 256;
    private const int SlicesAtLeast = 1 << 18;

    /// <summary>The disks of the table; the large ones with a 64th of their slices mapped.</summary>
    internal static IReadOnlyList<TierMemoryCase> Cases { get; } =
    [
        new(GiB, MiB, 1), new(64 * GiB, MiB, 1), new(1024 * GiB, MiB, 1), new(4096 * GiB, MiB, 1), new(256 * 1024 * GiB, MiB, 64),
        new(1024 * 1024 * GiB, 4 * MiB, 64),
    ];

    /// <summary>The section of docs/performance.md.</summary>
    internal static string Text()
    {
        StringBuilder text = new($"""
            ## {Title}

            What a tiered disk with two tiers keeps on the managed heap, in KiB: its slice map as records of the pool made it, and its heat with every mapped slice
            touched. Beside them, not counted in the last figure, which slots of its tiers are free. Metadata only: no disk, no data. *1 in 64*: not all of so large
            a disk is mapped here but stretches of {Stretch} slices all over it; the last figure takes what they need for a disk that is mapped as a
            whole. A disk of 1 PiB needs slices of at least 4 MiB.
            `./build.sh Bench --only tiers` measures this section again and leaves the others as they are.

            | Disk | slices of | mapped | map | heat | free slots | map and heat: MiB per mapped TiB | required |
            |---|---|---|---|---|---|---|---|

            """);
        Measure(Cases[0]);   // what is made once for all is there then
        foreach (TierMemoryCase one in Cases)
        {
            string row = Measure(one).Row;
            Console.WriteLine(row);
            text.Append(row).Append('\n');
        }

        return text.ToString();
    }

    /// <summary>Measures so many disks of the kind that what the heap rounds by does not matter.</summary>
    internal static TierMemoryResult Measure(TierMemoryCase one)
    {
        HeatSettings settings = new() { SliceBytes = one.SliceSize };
        int disks = (int)Math.Max(1, SlicesAtLeast / one.Slices);
        HeatMap[] heat = new HeatMap[disks];
        SlotPool[][] slots = new SlotPool[disks][];
        PoolState[] states = [.. Enumerable.Repeat(NewState(one), disks)];

        long emptyHeat = Kept(disks, disk => heat[disk] = new HeatMap(settings, one.Slices));
        long free = Kept(disks, disk => slots[disk] = [.. TierSizes(one).Select(size => new SlotPool(size / one.SliceSize))]);
        long map = Kept(disks, disk => states[disk] = Map(states[disk], one));
        long touched = Kept(disks, disk => Touch(heat[disk], one));
        SliceMapState mapped = states[0].SliceMap(IdOf(one));
        TierMemoryResult result = new(one, map, emptyHeat, touched, free, mapped.Mapped(0) + (long)mapped.Mapped(1));
        GC.KeepAlive(heat);
        GC.KeepAlive(slots);
        GC.KeepAlive(states);
        return result;
    }

    /// <summary>Bytes that stay on the heap for each of the disks.</summary>
    private static long Kept(int disks, Action<int> make)
    {
        long before = HeapBytes();
        for (int disk = 0; disk < disks; disk++)
        {
            make(disk);
        }

        return (HeapBytes() - before) / disks;
    }

    /// <summary>Returns the bytes on the heap after garbage of earlier work is collected.</summary>
    private static long HeapBytes()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        return GC.GetTotalMemory(forceFullCollection: true);
    }

    private static PoolState Map(PoolState state, TierMemoryCase one)
    {
        long[] next = [0, 0];
        int records = 0;
        foreach ((int first, int count) in one.Stretches)
        {
            for (int at = 0; at < count; at += SlicesOfRecord)
            {
                int tier = records++ % FastShare == 0 ? 0 : 1;
                SliceEntry[] entries = new SliceEntry[Math.Min(SlicesOfRecord, count - at)];
                for (int i = 0; i < entries.Length; i++)
                {
                    entries[i] = new SliceEntry(tier, (uint)next[tier]++, SliceReason.FirstWrite, DateTime.UnixEpoch.AddYears(60).Ticks);
                }

                state = state.Apply(new SlicesMapped(IdOf(one), first + at, entries));
            }
        }

        return state;
    }

    private static void Touch(HeatMap heat, TierMemoryCase one)
    {
        foreach ((int first, int count) in one.Stretches)
        {
            for (int slice = first; slice < first + count; slice++)
            {
                heat.Record(slice * (long)one.SliceSize, 4096, isWrite: false, 0);
            }
        }
    }

    private static PoolState NewState(TierMemoryCase one) => PoolState.Empty
        .Apply(new PoolCreated(new PoolDescription { FriendlyName = "memory", Slabs = new SlabGeometry(SlabGeometry.LargestSlab) }))
        .Apply(new VirtualDiskCreated(new VirtualDiskDescription
        {
            Id = IdOf(one),
            FriendlyName = "disk",
            ResiliencySettingName = "Simple",
            SizeBytes = one.SizeBytes,
            SliceSize = (uint)one.SliceSize,
            Tiers = [.. TierSizes(one).Select((size, tier) => new TierDescription
            {
                Id = new Guid(tier, 0, 0, new byte[8]), FriendlyName = $"tier {tier}", ResiliencySettingName = "Simple", SizeBytes = size, SpaceBytes = size,
            })],
        }));

    /// <summary>Every tier could hold what the load maps on it.</summary>
    private static long[] TierSizes(TierMemoryCase one)
    {
        long unit = (long)SlicesOfRecord * one.SliceSize;
        return [(one.SizeBytes / FastShare) + unit, (one.SizeBytes / FastShare * (FastShare - 1)) + unit];
    }

    private static VirtualDiskId IdOf(TierMemoryCase one) => new(new Guid(one.Stride, 1, 1, new byte[8]));
}
