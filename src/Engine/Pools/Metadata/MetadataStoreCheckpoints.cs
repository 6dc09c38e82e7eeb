using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Checkpoints, and the room they make in the journal.
//
// The ring holds everything after the checkpoint before the newest, so that either can be recovered from. A checkpoint is
// begun when a quarter of the smallest ring has been written since the newest, which is when the ring is about half full.

internal sealed partial class MetadataStore
{
    private bool _isCheckpointing;
    private List<MemberDisk>? _written;   // disks whose checkpoint is complete and not yet named
    private string _checkpointProblem = "";
    private bool _electionDue;

    /// <summary>Blocks of the smallest journal ring.</summary>
    private int SmallestRing => MetadataMembers.Min(static member => member.Layout.JournalBlocks);

    private bool IsCheckpointDue
    {
        get
        {
            MemberDisk[] disks = MetadataMembers;
            return !_isCheckpointing && disks.Length > 0
                && Head.Sequence - disks.Min(static disk => disk.Checkpoints.Newest.Position.Sequence) >= (ulong)SmallestRing / 4;
        }
    }

    /// <summary>Whether a group of the largest size, and what members held that leave while it is written, fit in front of what must be kept.</summary>
    private bool HasRoom
    {
        get
        {
            MemberDisk[] disks = MetadataMembers;
            return disks.Length == 0
                || Head.Sequence + MaxGroupBlocks + LeaverBlocksMax - disks.Min(static disk => disk.Checkpoints.Oldest.Sequence) <= (ulong)SmallestRing;
        }
    }

    /// <summary>Gives a disk a checkpoint of the present state and a superblock that names it.</summary>
    internal async LaneTask<IoError> WriteFullCheckpoint(MemberDisk disk)
    {
        IoError error = await disk.Checkpoints.Write(State, Head);
        return error == IoError.None && !(await WriteSuperblocks(View, [disk], clean: false)).Contains(disk.Number) ? IoError.Io : error;
    }

    /// <summary>Chooses metadata disks where some are missing, gives them the metadata, and lets them vote.</summary>
    internal async LaneTask Elect()
    {
        _electionDue = false;
        long pages = CheckpointPages.CountUpTo(State);
        IEnumerable<DiskDescription> fitting = Members.Values
            .Where(member => !_failed.ContainsKey(member.Number) && CheckpointStore.MostStatePages(member.Layout) >= pages)
            .Select(member => State.Disk(member.Number)!.Description);
        List<DiskNumber> promoted = [];
        foreach (DiskNumber disk in MetadataElection.Choose(fitting, View.Votes.Disks))
        {
            IoError error = await WriteFullCheckpoint(Members[disk]);
            if (error == IoError.None)
            {
                promoted.Add(disk);
            }
            else if (error != IoError.NoSpace)
            {
                NoteFailure(Members[disk], $"Writing a checkpoint to {Members[disk].Name} failed ({error}).");
            }
        }

        if (promoted.Count > 0)
        {
            await ChangeView(new ViewPlan { Promoted = promoted });
        }
    }

    private void StartCheckpoint()
    {
        if (!_isCheckpointing)
        {
            _isCheckpointing = true;
            WriteCheckpoints().Forget();
        }
    }

    private async LaneTask WriteCheckpoints()
    {
        PoolState state = State;
        JournalPosition position = Head;
        MemberDisk[] disks = [.. MetadataMembers];
        LaneTask<IoError>[] writes = [.. disks.Select(disk => disk.Checkpoints.Write(state, position))];
        List<MemberDisk> written = [];
        _checkpointProblem = "";
        for (int i = 0; i < disks.Length; i++)
        {
            IoError error = await writes[i];
            if (error == IoError.None)
            {
                written.Add(disks[i]);
            }
            else if (error == IoError.NoSpace)
            {
                _checkpointProblem = $"The metadata area of {disks[i].Name} is full.";
            }
            else
            {
                NoteFailure(disks[i], $"Writing a checkpoint to {disks[i].Name} failed ({error}).");
            }
        }

        _written = written;
        Kick();
    }

    private async LaneTask NameCheckpoint()
    {
        MemberDisk[] disks = [.. _written!.Where(disk => IsUsable(disk.Number))];
        _written = null;
        if (disks.Length > 0)
        {
            await WriteSuperblocks(View, disks, clean: false);
        }

        _isCheckpointing = false;
        if (_checkpointProblem.Length > 0 && !HasRoom)
        {
            CommitResult full = new(CommitStatus.NoSpace, _checkpointProblem);
            while (TryTakeCommit(out PendingCommit? commit))
            {
                commit.Done(full);
            }
        }
    }

    /// <summary>While the pool is being opened: makes room in the journal for what the next view needs, if that is possible.</summary>
    internal async LaneTask KeepRoom()
    {
        while (!HasRoom && StoppedResult() is null && _checkpointProblem.Length == 0)
        {
            await MakeRoom();
        }
    }

    private async LaneTask MakeRoom()
    {
        if (_written is not null)
        {
            await NameCheckpoint();
        }
        else
        {
            StartCheckpoint();
            await _environment.Lane.Delay(PollNs);
        }
    }
}
