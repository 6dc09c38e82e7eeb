using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Members that hold the metadata. They are chosen after each change of the view (MetadataElection), get a checkpoint of the newest state, and are named by
// the next view. A disk that lost the metadata because it was slow is not chosen again for a minute, and not while something of then is on its way to it.

/// <summary>Chooses metadata disks where some are missing.</summary>
internal sealed class MetadataVoters(
    ILane lane, StoreEnd end, PresentMembers members, CommittedState committed, StateCheckpoints checkpoints, MemberViews views, Action requested)
{
    private const long RestNs = 60_000_000_000;

    /// <summary>Whether the view has changed since the last election, or a disk that was slow has rested.</summary>
    internal bool IsElectionDue { get; private set; }

    /// <summary>Asks for an election.</summary>
    internal void Request() => IsElectionDue = true;

    /// <summary>
    /// Chooses metadata disks where some are missing, gives them the metadata, and names them in a view. It gives members a vote that have none.
    /// </summary>
    internal async LaneTask Elect()
    {
        IsElectionDue = false;
        IEnumerable<MemberDisk> free = members.All.Values.Where(static disk => disk.IsFreeForMetadata);
        List<DiskNumber> promoted = await Promote(free, members.View.MetadataDisks, committed.State, committed.Head);
        bool lackVotes = members.View.MembersVote && !members.View.Joining.IsEmpty;
        if (promoted.Count > 0 || lackVotes)
        {
            await views.ChangeView(new ViewPlan { Promoted = promoted });
        }
    }

    /// <summary>Gives members the newest metadata, written or not yet acknowledged, where no disk that held them is left.</summary>
    internal LaneTask<List<DiskNumber>> PromoteFromMemory(IReadOnlyCollection<MemberDisk> staying)
    {
        (PoolState state, JournalPosition head) = committed.NewestWritten;
        MemberDisk[] able = [.. staying.Where(disk => !disk.TakesMetadata && members.All.ContainsKey(disk.Number))];
        MemberDisk[] rested = Array.FindAll(able, static disk => disk.IsFreeForMetadata);
        return Promote(rested.Length > 0 ? rested : able, [], state, head);
    }

    /// <summary>Lets a disk rest that was slow.</summary>
    internal void Rest(MemberDisk disk)
    {
        disk.Rest(RestNs);
        RequestAfterRest().Forget();
    }

    private async LaneTask RequestAfterRest()
    {
        await lane.Delay(RestNs);
        if (end.Result is null)
        {
            Request();
            requested();
        }
    }

    private async LaneTask<List<DiskNumber>> Promote(
        IEnumerable<MemberDisk> candidates, IReadOnlyCollection<DiskNumber> current, PoolState state, JournalPosition head)
    {
        long pages = CheckpointPages.CountUpTo(state);
        IEnumerable<DiskDescription> fitting = candidates
            .Where(member => !members.IsFailed(member.Number) && CheckpointStore.MostStatePages(member.Layout) >= pages)
            .Select(member => state.Disk(member.Number)!.Description);
        List<DiskNumber> promoted = [];
        foreach (DiskNumber number in MetadataElection.Choose(fitting, state.Disks.Values.Select(static disk => disk.Description), current))
        {
            MemberDisk disk = members.All[number];
            disk.Checkpoints.Forget();
            IoError error = await checkpoints.WriteFullCheckpoint(disk, state, head);
            if (error == IoError.None)
            {
                promoted.Add(number);
            }
            else if (error != IoError.NoSpace)
            {
                members.NoteFailure(disk, $"Writing a checkpoint to {disk.Name} failed ({error}).");
            }
        }

        return promoted;
    }
}
