using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Superblocks: a view, the sessions of the pool, and the checkpoints of the disk that the superblock is on.
//
// Invariants
//  1. Epochs rise over all disks, and no superblock is written over the slot of a target's newest one.
//  2. History.HeldByAll is an epoch that every member of a view has held.
//  3. Before a record that needs a feature is written, every member that has not failed has a superblock that names the feature.

/// <summary>Writes superblocks to members.</summary>
internal sealed class SuperblockWriter
{
    private readonly CommittedState _committed;
    private readonly PresentMembers _members;
    private readonly ulong _session;
    private ulong _epoch;   // of the superblocks written last, or higher
    private FeatureFlags _announced;   // of records that are about to be written

    internal SuperblockWriter(StoreStart start, CommittedState committed, PresentMembers members)
    {
        (_committed, _members, _session, _epoch) = (committed, members, start.Session, start.Epoch);
        (History, IsForming) = (start.History, start.IsForming);
    }

    /// <summary>The sessions that superblocks written now name.</summary>
    internal MemberHistory History { get; private set; }

    /// <summary>Whether superblocks written now say that the pool is still being made.</summary>
    internal bool IsForming { get; private set; }

    /// <summary>The pool has been made.</summary>
    internal void EndForming() => IsForming = false;

    /// <summary>The session that opens has taken effect.</summary>
    internal void TakeEffect() => History = History.Effective;

    /// <summary>Writes superblocks that name the features of the next state, if the committed state does not need them yet.</summary>
    internal async LaneTask Announce(PoolState next)
    {
        FeatureFlags needed = FeatureRules.Of(next);
        if (Features.With(needed) != Features)
        {
            _announced = _announced.With(needed);
            await WriteSuperblocks(_members.View, [.. _members.All.Values], clean: false);
        }
    }

    /// <summary>Writes a superblock with this view to disks; gives those that hold it. The others are noted as failed.</summary>
    internal async LaneTask<HashSet<DiskNumber>> WriteSuperblocks(PoolView view, IReadOnlyCollection<MemberDisk> disks, bool clean)
    {
        ulong epoch = NextEpoch(disks);
        MemberDisk[] targets = [.. disks];
        Superblock[] superblocks = Array.ConvertAll(targets, disk => SuperblockOf(disk, view, epoch, clean));
        LaneTask<IoError>[] writes = [.. targets.Select((disk, i) => disk.WriteSuperblock(superblocks[i]))];
        HashSet<DiskNumber> held = [];
        for (int i = 0; i < targets.Length; i++)
        {
            IoError error = await writes[i];
            if (error == IoError.None)
            {
                targets[i].Checkpoints.Accept(superblocks[i]);
                held.Add(targets[i].Number);
            }
            else
            {
                _members.NoteFailure(targets[i], $"Writing the superblock of {targets[i].Name} failed ({error}).");
            }
        }

        if (view.Members.All(member => held.Contains(member.Disk)))
        {
            History = History with { HeldByAll = epoch };
        }

        return held;
    }

    /// <summary>The next epoch for superblocks of these disks.</summary>
    internal ulong NextEpoch(IEnumerable<MemberDisk> targets)
    {
        MemberDisk[] all = [.. targets];
        _epoch = Math.Max(_epoch, all.Max(static disk => disk.Newest?.Epoch ?? 0)) + 1;
        while (Array.Exists(all, disk => disk.IsSlotOfNewest(_epoch)))
        {
            _epoch++;
        }

        return _epoch;
    }

    private FeatureFlags Features => FeatureRules.Of(_committed.State).With(_announced);

    private Superblock SuperblockOf(MemberDisk disk, PoolView view, ulong epoch, bool clean)
    {
        (CheckpointRoot newest, CheckpointRoot previous) = disk.Checkpoints.RootsToName;
        return new Superblock
        {
            Features = Features,
            History = History,
            Epoch = epoch,
            Session = _session,
            IsClean = clean,
            IsForming = IsForming || disk.IsForming,
            DurableSequence = _committed.Head.Sequence,
            Checkpoint = newest,
            PreviousCheckpoint = previous,
            View = view,
        };
    }
}
