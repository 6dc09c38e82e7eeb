using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>State of one slice of a tiered virtual disk.</summary>
/// <param name="Slice">Index of the slice.</param>
/// <param name="Heat">Its heat, in requests.</param>
/// <param name="Entry">Its tier, counted from the fastest, its slot, and the time and reason of its last move.</param>
/// <param name="PinnedTier">Tier that it is pinned to; −1: none.</param>
public readonly record struct SliceStatus(int Slice, double Heat, SliceEntry Entry, int PinnedTier);

/// <summary>A piece of a list of slices.</summary>
/// <param name="Slices">Slices of the piece that are mapped, hot or pinned, in order.</param>
/// <param name="Next">The first byte that was not looked at; the end of the virtual disk or of the range when all was.</param>
public sealed record SlicePage(SliceStatus[] Slices, long Next);

/// <summary>Plan of the next optimization of a tiered virtual disk, with the settings that it follows from.</summary>
/// <param name="Plan">The plan.</param>
/// <param name="Capacities">Slices that each tier holds at most, fastest first.</param>
/// <param name="Settings">Settings that the plan follows.</param>
public sealed record TierOutlook(TierPlan Plan, IReadOnlyList<long> Capacities, TierPlanSettings Settings);

// Slices of tiered virtual disks looked at. A disk may have a billion of them, and the lane has requests to serve: each call looks at a piece.

/// <summary>Reads slices of tiered virtual disks, in pieces.</summary>
public sealed class SliceService
{
    /// <summary>Slices that the lane looks at before it yields: about a millisecond.</summary>
    internal const int SlicesAtOnce = 8192;

    private readonly SubsystemCore _core;

    internal SliceService(SubsystemCore core) => _core = core;

    /// <summary>The heats of all mapped slices of a tiered virtual disk.</summary>
    /// <exception cref="ManagementException">The virtual disk is not there, cannot be used, or has no tiers.</exception>
    public Task<HeatRanking> RankingAsync(Guid virtualDisk) => _core.Verbs.Look(() =>
    {
        ManagedVirtualDisk disk = _core.Pools.TakeTiered(virtualDisk).Disk;
        ILane lane = disk.Lane;
        return disk.Call(open => RankingOf(open.Tiering!, lane));
    });

    private static async LaneTask<HeatRanking> RankingOf(DiskTiering tiering, ILane lane)
    {
        long now = tiering.Now;
        List<float> heats = [];
        int looked = 0;
        foreach ((long slice, double heat) in tiering.Heat.Touched(now))
        {
            if (tiering.Store.PlaceOf((int)slice).IsMapped)
            {
                heats.Add((float)heat);
            }

            if (++looked % SlicesAtOnce == 0)
            {
                await lane.Yield();
            }
        }

        return new HeatRanking(now, [.. heats]);
    }

    /// <summary>The first slices of a range of a tiered virtual disk that are mapped, hot or pinned; the rest from where the answer says.</summary>
    /// <param name="virtualDisk">The virtual disk.</param>
    /// <param name="offset">First byte of the range.</param>
    /// <param name="length">Its length in bytes; to the end of the disk at most.</param>
    /// <param name="nowNs">Time that heat is looked at by: that of a ranking.</param>
    /// <exception cref="ManagementException">The virtual disk is not there, cannot be used, has no tiers, or ends before the range.</exception>
    public Task<SlicePage> ListAsync(Guid virtualDisk, long offset, long length, long nowNs) => _core.Verbs.Look(() =>
        _core.Pools.TakeTiered(virtualDisk).Disk.Ask(open => PageOf(open.Tiering!, offset, length, nowNs)));

    private static SlicePage PageOf(DiskTiering tiering, long offset, long length, long nowNs)
    {
        long size = (long)tiering.Store.Slices * tiering.Store.SliceSize;
        if (offset < 0 || length < 1 || offset >= size)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter, $"The range of {ByteText.Range(offset, length)} is not within the virtual disk; it has {ByteText.Exact(size)}.",
                "Give an offset below that and a length of 1 or more.");
        }

        long end = length < size - offset ? offset + length : size;
        int first = (int)(offset / tiering.Store.SliceSize);
        int last = Math.Min((int)((end - 1) / tiering.Store.SliceSize), first + SlicesAtOnce - 1);
        return new SlicePage(StatusOf(tiering, first, last, nowNs), Math.Min(end, (last + 1L) * tiering.Store.SliceSize));
    }

    /// <summary>Returns the plan of the next optimization of a tiered virtual disk, as if it began now.</summary>
    /// <exception cref="ManagementException">The virtual disk is not there, cannot be used, or has no tiers.</exception>
    public Task<TierOutlook> OutlookAsync(Guid virtualDisk) => _core.Verbs.Look(() =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeTiered(virtualDisk);
        Func<DiskTiering, TierPlanSettings> settingsOf = TierOptimizer.SettingsOf(managed.Pool!);
        return disk.Call(open => OutlookOf(open.Tiering!, settingsOf(open.Tiering!)));
    });

    private static async LaneTask<TierOutlook> OutlookOf(DiskTiering tiering, TierPlanSettings settings)
    {
        long[] sizes = [.. tiering.Store.Order.Select(tiering.Store.SizeOf)];
        return new TierOutlook(await tiering.Plan(settings), sizes, settings);
    }

    private static SliceStatus[] StatusOf(DiskTiering tiering, int first, int last, long nowNs)
    {
        List<SliceStatus> slices = [];
        for (int slice = first; slice <= last; slice++)
        {
            SliceStatus status = new(slice, tiering.Heat.Heat(slice, nowNs), tiering.PlaceOf(slice), tiering.Pins.TierOf(slice));
            if (status.Entry.IsMapped || status.Heat > 0 || status.PinnedTier >= 0)
            {
                slices.Add(status);
            }
        }

        return [.. slices];
    }
}
