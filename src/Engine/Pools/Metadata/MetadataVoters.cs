using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>Chooses metadata disks where some are missing.</summary>
internal sealed class MetadataVoters(PresentMembers members, CommittedState committed, StateCheckpoints checkpoints, MemberViews views)
{
    /// <summary>Whether the view has changed since the last election.</summary>
    internal bool IsElectionDue { get; private set; }

    /// <summary>Asks for an election.</summary>
    internal void Request() => IsElectionDue = true;

    /// <summary>Chooses metadata disks where some are missing, gives them the metadata, and lets them vote.</summary>
    internal async LaneTask Elect()
    {
        IsElectionDue = false;
        long pages = CheckpointPages.CountUpTo(committed.State);
        IEnumerable<DiskDescription> fitting = members.All.Values
            .Where(member => !members.IsFailed(member.Number) && CheckpointStore.MostStatePages(member.Layout) >= pages)
            .Select(member => committed.State.Disk(member.Number)!.Description);
        List<DiskNumber> promoted = [];
        IEnumerable<DiskDescription> all = committed.State.Disks.Values.Select(static disk => disk.Description);
        foreach (DiskNumber disk in MetadataElection.Choose(fitting, all, members.View.Votes.Disks))
        {
            IoError error = await checkpoints.WriteFullCheckpoint(members.All[disk]);
            if (error == IoError.None)
            {
                promoted.Add(disk);
            }
            else if (error != IoError.NoSpace)
            {
                members.NoteFailure(members.All[disk], $"Writing a checkpoint to {members.All[disk].Name} failed ({error}).");
            }
        }

        if (promoted.Count > 0)
        {
            await views.ChangeView(new ViewPlan { Promoted = promoted });
        }
    }
}
