using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Content of members when they left (DiskHeld).
//
// Crash order of a view that leaves members out:
//   1. a record of what each of them held, to the journal of every metadata disk that stays
//   2. the view, as always
//   3. the records are applied with the view
//
// Invariants
//  1. No superblock carries a view without a member before the record of what that member held is on every metadata disk of that view.
//     So a view that lacks a disk never lacks the record, wherever a crash stops the change.
//  2. A record states no more than the member is known to hold: of a member in use its newest complete superblock and the journal it
//     confirmed; of one that was missing at the opening what every member of the view before held.

/// <summary>Records what members held that the next view leaves out.</summary>
internal sealed class LeaverRecords(ulong session, PresentMembers members, CommittedState committed, SuperblockWriter superblocks)
{
    /// <summary>Most journal blocks that the records of one view take: for as many members as a pool can have.</summary>
    internal const int BlocksMax = 6;

    /// <summary>Writes what the members held that the next view leaves out. A disk that fails meanwhile is noted as failed.</summary>
    internal async LaneTask RecordLeavers(ViewPlan plan, List<MemberDisk> staying)
    {
        DiskHeld[] records =
        [
            .. members.View.Members.Select(static member => member.Disk)
                .Where(disk => !staying.Exists(member => member.Number == disk) && !plan.Leavers.Contains(disk) && !IsRecorded(disk))
                .Select(HeldBy).OfType<DiskHeld>(),
        ];
        if (records.Length == 0)
        {
            return;
        }

        PendingCommit commit = new(records, static _ => { });
        (PoolState state, JournalPosition head) = committed.NewestWritten;
        if (!committed.TryApply(commit, state, out PoolState after, out _))
        {
            return;   // the pool does not know the disk any more
        }

        List<JournalEntry> entries = JournalEntry.Cut(commit.Bytes, head, session, committed.Head.Sequence);
        MemberDisk[] disks = [.. staying.Where(member => members.View.IsMetadata(member.Number) || plan.Promoted.Contains(member.Number))];
        if (disks.Length == 0 || entries[^1].Header.Sequence - disks.Min(static disk => disk.Checkpoints.Oldest.Sequence) > (ulong)disks.Min(
            static disk => disk.Layout.JournalBlocks))
        {
            return;   // only where a release that kept no room for it stopped with a full ring: those disks return by the rules of that release
        }

        GroupWrite group = new([commit], after, entries);
        committed.AwaitView(group);
        LaneTask[] writes = [.. disks.Select(disk => WriteLeavers(disk, entries))];
        foreach (LaneTask write in writes)
        {
            await write;
        }
    }

    private async LaneTask WriteLeavers(MemberDisk member, List<JournalEntry> entries)
    {
        IoError error = await JournalEntry.Write(member, entries);
        if (error != IoError.None)
        {
            members.NoteFailure(member, $"Writing metadata to {member.Name} failed ({error}).");
        }
    }

    private bool IsRecorded(DiskNumber disk) =>
        committed.Leaving.Any(group => group.Commits.Exists(commit => Array.Exists(commit.Records, record => record is DiskHeld held && held.Disk == disk)));

    /// <summary>The least that a member holds; null if the pool has a record that is still right.</summary>
    private DiskHeld? HeldBy(DiskNumber disk)
    {
        if (members.All.TryGetValue(disk, out MemberDisk? member))
        {
            Superblock newest = member.Newest!;
            JournalPosition journal = member.JournalEnd;
            return journal.Sequence > newest.DurableSequence
                ? new DiskHeld(disk, newest.History.Newest, newest.Epoch, journal.Sequence, journal.Chain)
                : new DiskHeld(disk, newest.History.Newest, newest.Epoch, newest.DurableSequence, 0);
        }

        ulong byAll = Math.Max(superblocks.History.HeldByAll, members.View.Synced.Epoch);
        bool mayNotHaveJoined = members.View.Synced != members.View.Rank;
        return committed.State.Held.TryGetValue(disk, out DiskHeld? known) && (mayNotHaveJoined || known.Epoch >= byAll)
            ? null   // it was about to leave, or to join, when the host stopped: what was recorded then is right
            : new DiskHeld(disk, superblocks.History.Newest, byAll, 0, 0);
    }
}
