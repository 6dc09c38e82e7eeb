using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Verification;

/// <summary>A store that clients use, and the lane on which they do.</summary>
public interface ISimStore
{
    /// <summary>Lane.</summary>
    SimLane Lane { get; }

    /// <summary>Store that clients use, once open.</summary>
    IBlockStore Store { get; }
}

/// <summary>
/// Disks and host state at one instant, and the engine opened on them: one space alone, or a whole pool. A fork copies the instant,
/// so that a running world can be stopped at any point and recovered beside itself.
/// </summary>
public interface ISimWorld : ISimStore
{
    /// <summary>Disks.</summary>
    SimDisk[] Disks { get; }

    /// <summary>The spaces below it.</summary>
    SpaceSet Spaces { get; }

    /// <summary>Reason why the store takes no more requests, in words; empty while it serves.</summary>
    string FaultReason { get; }

    /// <summary>Current operation in which a crash should be tried, in words; empty: no special one.</summary>
    string Doing => "";

    /// <summary>Whether slices of the virtual disk have places that were given to them before their first writes.</summary>
    bool HasSlicesAhead => false;

    /// <summary>Whether the write cache was opened by its summaries.</summary>
    bool UsedSummaries => false;

    /// <summary>Creates the world on blank disks, or opens the existing one; returns the reason if that is refused, else an empty text.</summary>
    LaneTask<string> Open(bool isNew);

    /// <summary>Stops cleanly.</summary>
    LaneTask<IoError> Close();

    /// <summary>Returns the world as a power cut leaves it now; <paramref name="keep"/> says which sector of which pending write of which disk stays. With
    /// <paramref name="keepsMemory"/> only the disks lose power: what the host keeps in memory for the time after its process stays.</summary>
    ISimWorld Cut(ulong seed, Func<int, int, int, bool> keep, bool keepsMemory = false);

    /// <summary>The world as a crash of the process leaves it now: caches stay; of the requests in flight any part may have arrived.</summary>
    ISimWorld Kill(ulong seed, Func<bool> arrived);

    /// <summary>An exact copy, to try something on.</summary>
    ISimWorld Fork(ulong seed);

    /// <summary>Disks that the open world does without: pulled, out of the view, or not taken yet by the lane of a virtual disk.</summary>
    int MissingDisks { get; }

    /// <summary>Takes a disk away before the world is opened.</summary>
    void Remove(int disk);

    /// <summary>Whether a disk is out of the view, and nothing of it is under way: it may come back.</summary>
    bool CanReturn(int disk);

    /// <summary>Brings a disk back, which may have lost what was in its cache; the reason why it does not take part again, or empty.</summary>
    LaneTask<string> Return(int disk);

    /// <summary>Moves slices chosen at random to another tier; Incomplete where there are none.</summary>
    LaneTask<RepairEnd> MoveSlices(IWorkPacer pacer) => LaneTask.FromResult(RepairEnd.Incomplete);

    /// <summary>Moves a slab chosen at random to a disk that its row is not on; Incomplete where there is none.</summary>
    LaneTask<RepairEnd> MoveSome(IWorkPacer pacer);

    /// <summary>Writes pending on each disk, in flight included: what a cut chooses from.</summary>
    int[] PendingWrites();

    /// <summary>Frees what the world holds outside the managed heap.</summary>
    void Release();
}
