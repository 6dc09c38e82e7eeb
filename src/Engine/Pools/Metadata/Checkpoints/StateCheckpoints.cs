using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Checkpoints, and the room they make in the journal.
//
// The ring holds everything after the checkpoint before the newest, so that either can be recovered from. A checkpoint is
// begun when a quarter of the smallest ring has been written since the newest, which is when the ring is about half full.

/// <summary>Writes checkpoints of the state to the metadata disks.</summary>
/// <param name="lane">Lane of the pool.</param>
/// <param name="end">Whether the metadata is still written.</param>
/// <param name="members">The view in force.</param>
/// <param name="committed">State that a checkpoint holds.</param>
/// <param name="superblocks">Names checkpoints.</param>
/// <param name="commits">Ended where a checkpoint finds no room.</param>
/// <param name="written">Called when checkpoints have been written and not named yet.</param>
internal sealed class StateCheckpoints(
    ILane lane, StoreEnd end, PresentMembers members, CommittedState committed, SuperblockWriter superblocks, CommitQueue commits, Action written)
{
    private List<MemberDisk>? _written;   // disks whose checkpoint is complete and not yet named

    /// <summary>Whether a checkpoint has begun whose superblock has not been written.</summary>
    internal bool IsUnderWay { get; private set; }

    /// <summary>Whether checkpoints have been written that no superblock names yet.</summary>
    internal bool IsWritten => _written is not null;

    /// <summary>Reason why the newest checkpoint found no room, or empty.</summary>
    internal string Problem { get; private set; } = "";

    /// <summary>Blocks of the smallest journal ring.</summary>
    private int SmallestRing => members.Metadata.Min(static member => member.Layout.JournalBlocks);

    /// <summary>Whether enough of the journal has been written since the newest checkpoint.</summary>
    internal bool IsDue
    {
        get
        {
            MemberDisk[] disks = members.Metadata;
            return !IsUnderWay && disks.Length > 0
                && committed.Head.Sequence - disks.Min(static disk => disk.Checkpoints.Newest.Position.Sequence) >= (ulong)SmallestRing / 4;
        }
    }

    /// <summary>Whether a group of the largest size, and what members held that leave while it is written, fit in front of what must be kept.</summary>
    internal bool HasRoom
    {
        get
        {
            MemberDisk[] disks = members.Metadata;
            return disks.Length == 0
                || committed.Head.Sequence + CommitGroups.BlocksMax + LeaverRecords.BlocksMax - disks.Min(
                    static disk => disk.Checkpoints.Oldest.Sequence) <= (ulong)SmallestRing;
        }
    }

    /// <summary>Gives a disk a checkpoint of the present state and a superblock that names it.</summary>
    internal LaneTask<IoError> WriteFullCheckpoint(MemberDisk disk) => WriteFullCheckpoint(disk, committed.State, committed.Head);

    /// <summary>Gives a disk a checkpoint of a state and a superblock that names it.</summary>
    internal async LaneTask<IoError> WriteFullCheckpoint(MemberDisk disk, PoolState state, JournalPosition position)
    {
        IoError error = await disk.Checkpoints.Write(state, position);
        return error == IoError.None && !(await superblocks.WriteSuperblocks(members.View, [disk], clean: false)).Contains(disk.Number) ? IoError.Io : error;
    }

    /// <summary>Begins a checkpoint unless one is under way.</summary>
    internal void Start()
    {
        if (!IsUnderWay)
        {
            IsUnderWay = true;
            WriteCheckpoints().Forget();
        }
    }

    private async LaneTask WriteCheckpoints()
    {
        PoolState state = committed.State;
        JournalPosition position = committed.Head;
        MemberDisk[] disks = [.. members.Metadata];
        Array.ForEach(disks, static disk => disk.BeginMetadata());
        LaneTask<IoError>[] writes = [.. disks.Select(disk => disk.Checkpoints.Write(state, position))];
        List<MemberDisk> complete = [];
        Problem = "";
        for (int i = 0; i < disks.Length; i++)
        {
            IoError error = await writes[i];
            disks[i].EndMetadata();
            if (error == IoError.None)
            {
                complete.Add(disks[i]);
            }
            else if (error == IoError.NoSpace)
            {
                Problem = $"The metadata area of {disks[i].Name} is full.";
            }
            else
            {
                members.NoteFailure(disks[i], $"Writing a checkpoint to {disks[i].Name} failed ({error}).");
            }
        }

        _written = complete;
        written();
    }

    /// <summary>Names the checkpoints that have been written in superblocks.</summary>
    internal async LaneTask NameCheckpoint()
    {
        MemberDisk[] disks = [.. _written!.Where(disk => members.IsUsable(disk.Number))];
        _written = null;
        if (disks.Length > 0)
        {
            await superblocks.WriteSuperblocks(members.View, disks, clean: false);
        }

        IsUnderWay = false;
        if (Problem.Length > 0 && !HasRoom)
        {
            commits.EndAll(new CommitResult(CommitStatus.NoSpace, Problem));
        }
    }

    /// <summary>While the pool is being opened: makes room in the journal for what the next view needs, if that is possible.</summary>
    internal async LaneTask KeepRoom()
    {
        while (!HasRoom && end.Result is null && Problem.Length == 0)
        {
            await MakeRoom();
        }
    }

    /// <summary>One step towards room in the journal.</summary>
    internal async LaneTask MakeRoom()
    {
        if (_written is not null)
        {
            await NameCheckpoint();
        }
        else
        {
            Start();
            await lane.Delay(MetadataStore.PollNs);
        }
    }
}
