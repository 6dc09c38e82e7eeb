using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>Content of a pool disk that is outside the view, compared with the pool's records.</summary>
internal enum ReturnVerdict
{
    /// <summary>All that the disk held when it left: the stale marks name the writes that it missed.</summary>
    AsItWas,

    /// <summary>Less than it held when it left: an older copy, or a disk that lost writes which it had confirmed. All of it is stale.</summary>
    Less,

    /// <summary>Another history of the pool: its images were copied, and the copy was opened. It is neither read nor written.</summary>
    OtherHistory,
}

// Whether a disk that is outside the view may take part again, and with what. Pure: what the pool knows and what the disk holds in, verdict out.
//
//  row  situation                                                              verdict
//  ---  ---------------------------------------------------------------------  -------------
//   1   its newest session is recorded with another token                      other history
//   2   its newest session is above the newest recorded one, or among the      other history
//       recorded ones and not recorded
//   3   its newest session is older than the recorded ones, and the pool has   other history
//       a record of it with another token
//   4   the pool has no record of what the disk held (an older release)        as it was
//   5   its newest superblock is older than the one that it held               less
//   6   its newest session is older than the recorded ones, and not the one    less
//       that it held
//   7   neither superblock nor journal reach the end of the journal it held    less
//   8   else                                                                   as it was

/// <summary>Judges disks that come back.</summary>
internal static class ReturnRules
{
    /// <summary>Message about a disk of another history.</summary>
    internal const string OtherHistoryReason =
        "belongs to another history of the pool: a copy of the pool's disks was opened elsewhere, and this disk took part there. Nothing on it is read or written. " +
        "Put back the disk of this history, or make this one a new disk with Reset-PhysicalDisk";

    /// <summary>Judges a disk.</summary>
    /// <param name="state">The pool's records, with that of the session that is open.</param>
    /// <param name="disk">The disk.</param>
    /// <param name="durable">Sequence that is durable on it whatever its superblock says; 0 where only that tells.</param>
    internal static LaneTask<ReturnVerdict> Judge(PoolState state, MemberDisk disk, ulong durable = 0) =>
        Judge(state, disk.Number, disk.Newest! with { DurableSequence = Math.Max(disk.Newest!.DurableSequence, durable) },
            (sequence, chain) => HoldsJournal(disk, sequence, chain));

    /// <summary>Judges a disk by what it says.</summary>
    /// <param name="state">The pool's records, with that of the session that is open.</param>
    /// <param name="disk">Its number.</param>
    /// <param name="newest">Its newest superblock.</param>
    /// <param name="holdsJournal">Whether its journal ring holds a block of this sequence and running checksum.</param>
    internal static async LaneTask<ReturnVerdict> Judge(
        PoolState state, DiskNumber disk, Superblock newest, Func<ulong, uint, LaneTask<bool>> holdsJournal)
    {
        DiskHeld? held = state.Held.GetValueOrDefault(disk);
        SessionToken last = newest.History.Newest;
        if (IsOtherHistory(state, held, last))
        {
            return ReturnVerdict.OtherHistory;
        }

        if (held is null)
        {
            return ReturnVerdict.AsItWas;
        }

        bool isForgotten = last.Session != 0 && last.Session < OldestOf(state) && last != held.Last;
        if (newest.Epoch < held.Epoch || isForgotten)
        {
            return ReturnVerdict.Less;
        }

        return newest.DurableSequence >= held.Sequence || await holdsJournal(held.Sequence, held.Chain) ? ReturnVerdict.AsItWas : ReturnVerdict.Less;
    }

    /// <summary>Whether a disk took part in a session that this history of the pool does not have.</summary>
    /// <param name="state">The pool's records.</param>
    /// <param name="held">The pool's record of the disk's content when it left; null if there is none.</param>
    /// <param name="last">The newest session of the disk.</param>
    internal static bool IsOtherHistory(PoolState state, DiskHeld? held, SessionToken last)
    {
        if (last.Session == 0 || state.Sessions.IsEmpty)
        {
            return false;
        }

        return last.Session < OldestOf(state)
            ? held is not null && held.Last.Session == last.Session && held.Last.Token != last.Token
            : !state.Sessions.Any(session => session.Session == last.Session && session.FencingToken == last.Token);
    }

    private static ulong OldestOf(PoolState state) => state.Sessions.IsEmpty ? 0 : state.Sessions[0].Session;

    private static async LaneTask<bool> HoldsJournal(MemberDisk disk, ulong sequence, uint chain) =>
        (await JournalReader.ReadAll(disk)).Exists(block => block.Header.Sequence == sequence && block.Chain == chain);
}
