using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Verifying what the pool keeps on a disk beside the data: both labels, the newest superblock in both rings, and on a metadata disk
// the pages of its newest two checkpoints and the journal after the older of them.
//
// It is an operation of the pump, so nothing of it changes meanwhile. Labels never change and are written again in place. The others
// are not: new ones are written beside what is damaged, and what no superblock names any more is no part of the pool. It takes two
// checkpoints, since the journal is kept from the one before the newest on.

/// <summary>Verifies and heals the metadata on a disk.</summary>
internal sealed class MetadataScrub(StoreEnd end, PresentMembers members, CommittedState committed, SuperblockWriter superblocks, StateCheckpoints checkpoints)
{
    /// <summary>Verifies and heals the metadata on one disk, as an operation of the pump; gives the number of blocks that were damaged or unreadable.</summary>
    internal async LaneTask<int> Scrub(DiskNumber number)
    {
        while (checkpoints.IsUnderWay && end.Result is null)
        {
            await checkpoints.MakeRoom();
        }

        if (!members.IsUsable(number) || end.Result is not null)
        {
            return 0;
        }

        MemberDisk member = members.All[number];
        int labels = await member.CountDamagedLabels();
        int rings = await member.CountDamagedSuperblocks();
        int records = members.View.IsMetadata(number) ? await member.Checkpoints.CountDamaged() + await CountDamagedJournal(member) : 0;
        IoError error = labels > 0 ? await member.WriteLabels() : IoError.None;
        if (records > 0 && error == IoError.None)
        {
            error = await ReplaceCheckpoints(member);
        }
        else if (rings > 0 && error == IoError.None)
        {
            await superblocks.WriteSuperblocks(members.View, [member], clean: false);
        }

        if (error is not IoError.None and not IoError.NoSpace)
        {
            members.NoteFailure(member, $"Healing the metadata of {member.Name} failed ({error}).");
        }

        return labels + rings + records;
    }

    private async LaneTask<IoError> ReplaceCheckpoints(MemberDisk member)
    {
        member.Checkpoints.ShareNothing();
        IoError error = await checkpoints.WriteFullCheckpoint(member);
        return error == IoError.None ? await checkpoints.WriteFullCheckpoint(member) : error;
    }

    // From the checkpoint before the newest to the head every block is there and continues the one before it.
    private async LaneTask<int> CountDamagedJournal(MemberDisk member)
    {
        JournalPosition from = member.Checkpoints.Oldest;
        Dictionary<ulong, FoundBlock> found = (await JournalReader.ReadAll(member)).ToDictionary(static block => block.Header.Sequence);
        uint? chain = from.Chain;
        int damaged = 0;
        for (ulong sequence = from.Sequence + 1; sequence <= committed.Head.Sequence; sequence++)
        {
            bool isThere = found.TryGetValue(sequence, out FoundBlock? block)
                && (chain is null || block.Header.PreviousChain == chain)
                && (sequence < committed.Head.Sequence || block.Chain == committed.Head.Chain);
            damaged += isThere ? 0 : 1;
            chain = isThere ? block!.Chain : null;
        }

        return damaged;
    }
}
