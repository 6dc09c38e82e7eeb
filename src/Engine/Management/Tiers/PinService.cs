using System.Text;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Request for a pin.</summary>
/// <param name="VirtualDisk">A virtual disk with tiers.</param>
/// <param name="Tier">One of them.</param>
/// <param name="Label">Path of the file, of which there is one pin on a virtual disk; empty: a range, of which there is one as well.</param>
/// <param name="Ranges">Its pieces, in any order; bytes of the virtual disk.</param>
public sealed record PinRequest(Guid VirtualDisk, Guid Tier, string Label, IReadOnlyList<PinnedRange> Ranges);

/// <summary>A pin and the tiers that hold its bytes now.</summary>
/// <param name="Pin">The pin.</param>
/// <param name="VirtualDisk">The virtual disk.</param>
/// <param name="Tier">The tier that it names.</param>
/// <param name="BytesOn">Bytes of it on each tier, fastest first. Ranges that were never written are on no tier.</param>
/// <param name="IsMoving">Whether slices of the virtual disk are being brought to their tiers.</param>
public sealed record PinStatus(Pin Pin, VirtualDiskDescription VirtualDisk, TierDescription Tier, IReadOnlyList<long> BytesOn, bool IsMoving)
{
    /// <summary>Whether it is of a range, and not of a file.</summary>
    public bool IsRange => Pin.Label.Length == 0;

    /// <summary>Bytes on the tier that it names.</summary>
    public long BytesOnTier => BytesOn[Pin.Tier];

    /// <summary>Bytes on other tiers.</summary>
    public long BytesElsewhere => BytesOn.Sum() - BytesOnTier;
}

// Pins of tiered virtual disks: records in the metadata of the pool, loaded by the disk after each change. A change is one commit, so a pin
// is there as a whole or as it was. The records decide what is refused.

/// <summary>Verbs of pins.</summary>
public sealed class PinService
{
    private const int PinPiecesMax = 16 * PinSet.RangesMax;   // one commit takes them

    private readonly SubsystemCore _core;
    private readonly JobRunner _runner;
    private readonly TierOptimizer _optimizer;
    private readonly Snapshots _snapshots;

    internal PinService(SubsystemCore core, JobRunner runner, TierOptimizer optimizer, Snapshots snapshots) =>
        (_core, _runner, _optimizer, _snapshots) = (core, runner, optimizer, snapshots);

    /// <summary>The pins of a virtual disk, or of all that are open and have tiers.</summary>
    /// <exception cref="ManagementException">The virtual disk is not there, cannot be used, or has no tiers.</exception>
    public Task<PinStatus[]> ListAsync(Guid? virtualDisk) => _core.Verbs.Look(_snapshots.Take, now => now.Pins(virtualDisk).ToArray());

    /// <summary>
    /// Sets a pin, in place of the one that its file or exactly its range has. The next optimization, or <see cref="MoveAsync"/>, moves the pinned slices.
    /// </summary>
    /// <exception cref="ManagementException">More would be pinned to the tier than it has, or a parameter is outside its range; nothing was
    /// changed.</exception>
    public Task<PinStatus> SetAsync(PinRequest request) => _snapshots.Change(async LaneTask<Guid> () =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk, Pin pin) = NewPin(request);
        List<MetadataRecord> records = [.. pin.ToRecords(disk.Description.Id, request.Tier)];
        if (PinsOf(managed, disk).Find(pin.Id) is not null)
        {
            records.Insert(0, new PinRemoved(pin.Id));
        }

        Commits.Require(await managed.Pool!.Commit([.. records]), disk.Description.FriendlyName);
        await disk.Ask(LoadPins);
        return pin.Id;
    }, (id, now) => now.Pins(request.VirtualDisk).First(status => status.Pin.Id == id));

    /// <summary>Refuses what <see cref="SetAsync"/> would refuse.</summary>
    public Task<bool> CheckSetAsync(PinRequest request) => _core.Verbs.Check(() => NewPin(request));

    /// <summary>Removes a pin; its slices stay in their tier until other slices need the place.</summary>
    /// <exception cref="ManagementException">There is no such pin, or the pool takes no changes.</exception>
    public Task<bool> RemoveAsync(Guid virtualDisk, Guid pin) => _core.Verbs.Change(async LaneTask<bool> () =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = TakePinned(virtualDisk, pin);
        Commits.Require(await managed.Pool!.Commit(new PinRemoved(pin)), disk.Description.FriendlyName);
        return await disk.Ask(LoadPins);
    });

    /// <summary>Refuses what <see cref="RemoveAsync"/> would refuse.</summary>
    public Task<bool> CheckRemoveAsync(Guid virtualDisk, Guid pin) => _core.Verbs.Check(() => TakePinned(virtualDisk, pin));

    /// <summary>
    /// Brings what is pinned on a virtual disk to its tiers, and what is in its way elsewhere; nothing else moves. Completes when it has
    /// ended, however it has.
    /// </summary>
    /// <exception cref="ManagementException">The virtual disk is not there, cannot be used, or has no tiers.</exception>
    public Task<JobStatus> MoveAsync(Guid virtualDisk) => _core.Lane.InvokeAsync(async LaneTask<JobStatus> () =>
    {
        StorageJob job = await _core.Verbs.Enqueue(() => LaneTask.FromResult(StartPlacePins(virtualDisk)));   // the wait holds up no other verb
        await job.WaitForEnd();
        return JobStatus.Of(job);
    });

    // A job under way may have planned before the newest pin was there: it plans again.
    private StorageJob StartPlacePins(Guid virtualDisk)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeTiered(virtualDisk);
        managed.RequireWritable();
        StorageJob? running = _runner.Running(managed.Id.Value).LastOrDefault(job => job.Spec.Kind == JobKind.PlacePins && job.Spec.VirtualDisk == virtualDisk);
        return running?.BeginAgain() == true ? running : _optimizer.Start(managed, disk, JobKind.PlacePins, _core.Lane.NewGuid(), null, TierLimits.None);
    }

    private (ManagedPool Pool, ManagedVirtualDisk Disk, Pin Pin) NewPin(PinRequest request)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeTiered(request.VirtualDisk);
        managed.RequireWritable();
        PinTable pins = PinsOf(managed, disk);
        VirtualDiskDescription description = disk.Description;
        int tier = description.Tiers.ToList().FindIndex(tier => tier.Id == request.Tier);
        if (tier < 0)
        {
            throw new ManagementException(
                ManagementError.ObjectNotFound, $"Virtual disk '{description.FriendlyName}' has no storage tier {request.Tier}.",
                $"It has {string.Join(", ", description.Tiers.Select(static tier => tier.FriendlyName))}.");
        }

        CheckRanges(description, request);
        Pin pin = new(Guid.Empty, tier, request.Label, Pin.Join(request.Ranges));
        pin = pin.Ranges.Length <= PinPiecesMax ? pin
            : pin with { Ranges = Pin.Join(request.Ranges.Select(range => WholeSlices(range, description.SliceSize))) };
        Pin? before = pin is { Label: "", Ranges: [var range] } ? pins.Find(range) : pins.Find(pin.Label);
        pin = pin with { Id = before?.Id ?? _core.Lane.NewGuid() };
        CheckPin(description, pins, pin);
        return (managed, disk, pin);
    }

    private static void CheckRanges(VirtualDiskDescription disk, PinRequest request)
    {
        int label = Encoding.UTF8.GetByteCount(request.Label);
        if (label > PinSet.LabelBytesMax)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter, $"A path of {label} bytes is too long for a pin; at most {PinSet.LabelBytesMax} are possible.",
                "Move the file to a shorter path.");
        }

        foreach (PinnedRange range in request.Ranges)
        {
            if (range.Offset < 0 || range.Length < 1 || range.Offset > disk.SizeBytes - range.Length)
            {
                throw new ManagementException(
                    ManagementError.InvalidParameter,
                    $"{ByteText.Range(range.Offset, range.Length)} are not within virtual disk '{disk.FriendlyName}'; it has {ByteText.Exact(disk.SizeBytes)}.",
                    "Give ranges within it.");
            }
        }
    }

    private static void CheckPin(VirtualDiskDescription disk, PinTable pins, Pin pin)
    {
        string what = pin.Label.Length > 0 ? $"'{pin.Label}'" : "The range";
        string tier = disk.Tiers[pin.Tier].FriendlyName;
        if (pin.Ranges.Length > PinPiecesMax)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter, $"{what} is in {pin.Ranges.Length} pieces; a pin has at most {PinPiecesMax}.",
                "Rewrite the file in fewer pieces.");
        }

        if (!pins.CanSet(pin, out PinError? problem))
        {
            bool isRoom = pin.Ranges.Length > 0;
            throw new ManagementException(
                isRoom ? ManagementError.NotEnoughCapacity : ManagementError.InvalidParameter,
                $"{what} cannot be pinned to storage tier '{tier}'. {problem.Reason}");
        }
    }

    private (ManagedPool Pool, ManagedVirtualDisk Disk) TakePinned(Guid virtualDisk, Guid pin)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeTiered(virtualDisk);
        managed.RequireWritable();
        return PinsOf(managed, disk).Find(pin) is not null ? (managed, disk) : throw new ManagementException(
            ManagementError.ObjectNotFound, $"Virtual disk '{disk.Description.FriendlyName}' has no pin {pin}.", "Look at Get-FileStorageTier.");
    }

    private static PinTable PinsOf(ManagedPool managed, ManagedVirtualDisk disk) => PinTable.Load(disk.Description, managed.Pool!.State.Pins.Values);

    private static bool LoadPins(OpenVirtualDisk open)
    {
        open.Tiering!.LoadPins();
        return true;
    }

    private static PinnedRange WholeSlices(PinnedRange range, long slice)
    {
        long first = range.Offset / slice * slice;
        return new PinnedRange(first, ((range.End - first + slice - 1) / slice * slice));
    }
}
