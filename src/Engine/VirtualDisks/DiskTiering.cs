using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.VirtualDisks;

// Plans, reports and pins count tiers from the fastest, 0; the store and its map know them by numbers. This is where one becomes the other.

/// <summary>
/// Decides where the slices of an open tiered disk belong, by their heat, pins and the sizes of its tiers. Plans moves and makes
/// them.
/// </summary>
public sealed class DiskTiering
{
    private readonly PoolLink _pool;
    private const long SavedBytesPerSecond = 1_000_000;

    private readonly VirtualDiskId _owner;
    private readonly HeatKeeper _keeper;
    private readonly LaneSignal _moveEnded = new();
    private readonly LaneSignal _saveEnded = new();
    private bool _isMoving;
    private bool _isSaving;
    private long _recordedSaved;   // of Heat.Recorded
    private long _savedNs = long.MinValue;
    private bool _isClosed;   // nothing is written any more: the slabs may have another owner

    private DiskTiering(PoolLink pool, VirtualDiskDescription disk, TieredStore store, HeatKeeper keeper, HeatMap heat)
    {
        _pool = pool;
        _owner = disk.Id;
        _keeper = keeper;
        Store = store;
        Heat = heat;
        LoadPins();
    }

    /// <summary>The tiers as one store.</summary>
    public TieredStore Store { get; }

    /// <summary>Heat of its slices.</summary>
    public HeatMap Heat { get; }

    /// <summary>Its pins.</summary>
    public PinTable Pins { get; private set; } = null!;

    /// <summary>Settings of the user: the counting of heat, and the conditions under which slices move.</summary>
    public TierSettings Settings => Disk.TierSettings;

    /// <summary>Current time for reading heat, in nanoseconds.</summary>
    public long Now => Lane.NowNs;

    private ILane Lane => _pool.Lane;

    private VirtualDiskDescription Disk => _pool.State.VirtualDisk(_owner)!;

    /// <summary>For a disk that has just been opened.</summary>
    internal static async LaneTask<DiskTiering> Open(PoolLink pool, VirtualDiskDescription disk, TieredStore store, bool isNew)
    {
        HeatSettings settings = new() { SliceBytes = (int)disk.SliceSize, HalfLifeNs = disk.TierSettings.HalfLifeNs };
        HeatKeeper keeper = new(pool.Lane, store, disk.Id.Value);
        bool reads = !isNew && store.Fault == IoError.None;
        return new DiskTiering(pool, disk, store, keeper, reads ? await keeper.Load(settings) : new HeatMap(settings, store.Slices));
    }

    /// <summary>Takes the pins as the pool remembers them now.</summary>
    internal void LoadPins() => Pins = PinTable.Load(Disk, _pool.State.Pins.Values);

    /// <summary>Goes by the settings as the pool remembers them now.</summary>
    internal void LoadSettings()
    {
        if (Settings.HalfLifeNs != Heat.Settings.HalfLifeNs)
        {
            Heat.SetHalfLife(Settings.HalfLifeNs, Lane.NowNs);
        }
    }

    /// <summary>
    /// Saves the heat if requests have been counted since it was saved: once a minute at most, and less often where it is so much that this would be more than
    /// a megabyte a second.
    /// </summary>
    internal LaneTask<IoError> SaveChangedHeat()
    {
        long bytes = Heat.TouchedPages * HeatSnapshot.BlockSize;
        bool isDue = _savedNs == long.MinValue || Lane.NowNs - _savedNs >= bytes * (1_000_000_000 / SavedBytesPerSecond);
        return isDue && Heat.Recorded != _recordedSaved ? SaveHeat() : LaneTask.FromResult(IoError.None);
    }

    /// <summary>Saves the heat, one after the other; an error costs nothing but the heat.</summary>
    public async LaneTask<IoError> SaveHeat()
    {
        while (_isSaving)
        {
            await _saveEnded.Wait();
        }

        if (_isClosed || Store.Fault != IoError.None || (Heat.TouchedPages == 0 && !_keeper.HasSaved))
        {
            return Store.Fault;
        }

        _isSaving = true;
        (_recordedSaved, _savedNs) = (Heat.Recorded, Lane.NowNs);
        IoError error = await _keeper.Save(Heat);
        _isSaving = false;
        _saveEnded.NotifyAll();
        return error;
    }

    /// <summary>Takes heat in place of what there is, and saves it.</summary>
    /// <param name="heat">A map of as many slices with the same settings; not to be used any more.</param>
    internal LaneTask<IoError> ReplaceHeat(HeatMap heat)
    {
        Heat.Take(heat);
        return SaveHeat();
    }

    /// <summary>Saves the heat for the last time.</summary>
    internal async LaneTask<Nothing> Close()
    {
        await SaveHeat();
        _isClosed = true;
        while (_isSaving)
        {
            await _saveEnded.Wait();
        }

        return default;
    }

    /// <summary>Its tiers, fastest first.</summary>
    public ImmutableArray<TierDescription> Tiers => [.. Store.Order.Select(number => Disk.Part(number)!)];

    /// <summary>Returns the place of a slice, its tier counted from the fastest.</summary>
    public SliceEntry PlaceOf(int slice)
    {
        SliceEntry entry = Store.PlaceOf(slice);
        return entry.IsMapped ? entry.WithTier(Store.Order.IndexOf(entry.Tier)) : entry;
    }

    /// <summary>Tiers, places, pins and heat as they are now, for planning beside the lane.</summary>
    public async LaneTask<TierSurvey> Survey()
    {
        await Store.GiveAheadBack();   // a plan has their room
        return new TierSurvey
        {
            Tiers = Tiers,
            Capacities = [.. Store.Order.Select(Store.SizeOf)],
            Spare = [.. Store.Order.Select(Store.SpareOf)],
            Slices = Store.Slices,
            SliceBytes = Store.SliceSize,
            TierOf = RankOf(),
            Pins = Pins,
            MinimumHeat = Settings.MinimumHeat,
            Heat = await HeatCopy.Make(Heat, Lane.NowNs, Lane.Yield),
        };
    }

    /// <summary>The moves that are worth it. Takes a while, beside the lane.</summary>
    public async LaneTask<TierPlan> Plan(TierPlanSettings settings)
    {
        TierSurvey survey = await Survey();
        return await Lane.Compute(() => survey.Plan(settings));
    }

    /// <summary>Returns a report on the fit of the tier sizes to the load. Takes a while, off the lane.</summary>
    public async LaneTask<TierReport> Report()
    {
        TierSurvey survey = await Survey();
        return await Lane.Compute(survey.Report);
    }

    /// <summary>Moves slices, in order; one call after the other.</summary>
    public async LaneTask<RepairEnd> Move(IReadOnlyList<SliceOrder> orders, IWorkPacer pacer)
    {
        while (_isMoving)
        {
            await _moveEnded.Wait();
        }

        _isMoving = true;
        RepairEnd end = await Store.Move(orders, pacer);
        _isMoving = false;
        _moveEnded.NotifyAll();
        return end;
    }

    /// <summary>Tells of each slice how many tiers are faster than the one that it is on now; −1: it is nowhere.</summary>
    private Func<long, int> RankOf()
    {
        SliceMapState map = Store.Map;
        int[] ranks = new int[Store.Tiers];
        for (int rank = 0; rank < ranks.Length; rank++)
        {
            ranks[Store.Order[rank]] = rank;
        }

        return slice => map[(int)slice] is { IsMapped: true } entry ? ranks[entry.Tier] : -1;
    }
}
