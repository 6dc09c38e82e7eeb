using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// A host that opens a pool takes its lease first, in steps: each step looks at the disks once and says what is to be waited for.
//
//   the last holder is this host, and has ended     at once: session + 1, read back. After an unclean stop and another start of the machine only when
//                                                   nothing has changed for 5 s: a copy of this machine that serves is seen then. Beside a damaged block
//                                                   when nothing has changed for 21 s
//   it has closed the pool                          claim, 12 s, read back, session, read back
//   it serves, or did when it stopped               nothing may have changed for 21 s; then the same, where it is this host or the user says that the other
//                                                   one is off. Beside a holder that renews never
//
// Two hosts that come at the same time: each reads the claim of the other, and the lower one begins again. A claim that is late on the disks is void: its
// write could be under way while another host already serves.
//
// Invariants
//  1. Nothing is written before the look that allows it has found the majority of the votes.
//  2. A session is above every session, claim and promise that was read.
//  3. A claim that a majority holds is on one disk at least of every other majority: areas with damaged blocks are left out where the rest is one.
//     Claim and session count only where they are read back whole, and no other block has been damaged meanwhile.
//  4. The witness counts where this host has been the last holder; another host cannot read it, so it never counts for a claim.

/// <summary>Takes the lease of a pool, step by step.</summary>
internal sealed class LeaseTaker
{
    private const long PatienceNs = 2_000_000_000;

    private readonly Dictionary<DiskNumber, ulong> _seen = [];   // hash of the lease blocks, by disk
    private ViewRank _view;
    private long _stillSinceNs = -1;     // nothing has changed since
    private bool _isMoving;              // something has changed since the first look
    private SessionToken? _claim;
    private long _claimedNs;             // time at which the claim was on the majority
    private long _notBeforeNs;           // no claim is made before

    /// <summary>Whether the user has said that the host which holds the pool is off.</summary>
    internal bool IsForced { get; private set; }

    /// <summary>An administrator says that the host which holds the lease is off.</summary>
    internal void Force() => IsForced = true;

    /// <summary>Makes one step.</summary>
    /// <param name="environment">Environment of the pool.</param>
    /// <param name="view">The view that opens.</param>
    /// <param name="voters">Its voters that are there.</param>
    /// <param name="promised">Highest session that any of them has promised to.</param>
    /// <param name="hasWitness">Whether this host has the witness of the view.</param>
    internal async LaneTask<LeaseAnswer> Step(
        PoolEnvironment environment, PoolView view, IReadOnlyList<MemberDisk> voters, ulong promised, bool hasWitness)
    {
        ILane lane = environment.Lane;
        long nowNs = lane.BootNs;
        LeaseVotes votes = new(view, hasWitness);
        LeaseDisk[] disks = [.. voters.Select(voter => new LeaseDisk(lane, voter))];
        List<LeaseDisk> read = await LeaseRound.Run(lane, disks, static disk => disk.Read(), PatienceNs);
        if (!votes.AreMajority(read, withWitness: true))
        {
            return LeaseAnswer.Refuse("its lease cannot be read on the majority of its disks");
        }

        Compare(view, read, nowNs);
        List<LeaseDisk> whole = read.FindAll(static disk => !disk.Area!.IsTorn);
        read = votes.AreMajority(whole, withWitness: true) ? whole : read;
        LeaseSight sight = new(read, promised, environment.Host, hasWitness);
        if (_claim is { } claim)
        {
            return nowNs - _claimedNs < LeaseTimes.ClaimWaitNs
                ? LeaseAnswer.Wait($"{sight.LastHolder} {Waiting(nowNs - _claimedNs, LeaseTimes.ClaimWaitNs)}")
                : await EndClaim(environment, votes, read, sight, claim, promised);
        }

        long stillNs = nowNs - _stillSinceNs;
        if (sight.IsOwn && stillNs >= sight.StillBeforeReopening)
        {
            return await Serve(environment, votes, read, promised, sight.Above(environment.Lane), isTaken: false);
        }

        if (sight.IsOwn)
        {
            return LeaseAnswer.Wait($"{sight.LastHolder} {Waiting(stillNs, sight.StillBeforeReopening)}");
        }

        if (!sight.IsClosed && stillNs < LeaseTimes.SilenceNs)
        {
            return _isMoving && stillNs < LeaseTimes.TwinNs ? LeaseAnswer.Refuse($"it is in use: {sight.Holder}")
                : LeaseAnswer.Wait($"{sight.LastHolder} {Waiting(stillNs, LeaseTimes.SilenceNs)}");
        }

        if (!votes.AreMajority(read, withWitness: false))
        {
            int all = votes.View.Votes.Disks.Length;
            return LeaseAnswer.Refuse($"{sight.LastHolder} To take it over, more than half of its {all} disks have to be there; {read.Count} are. "
                + "Bring another one back, or open the pool on that host");
        }

        if (!sight.IsClosed && !sight.IsOfThisNode && !IsForced)
        {
            return LeaseAnswer.Refuse($"{sight.LastHolder} It has not closed the pool, and has not renewed its lease for {stillNs / 1_000_000_000} s. "
                + "If that host is off, run Update-StoragePool -Force; if it is not, what it has written and not yet handed to the disks may still arrive");
        }

        return nowNs < _notBeforeNs ? LeaseAnswer.Wait("another host wants it, too") : await Claim(environment, votes, read, sight, nowNs);
    }

    private static string Waiting(long passedNs, long wholeNs) => $"Waiting {Math.Max(0, passedNs) / 1_000_000_000} of {wholeNs / 1_000_000_000} s";

    /// <summary>Notes whether a lease block or the view has changed since the last look.</summary>
    private void Compare(PoolView view, List<LeaseDisk> read, long nowNs)
    {
        bool isFirst = _stillSinceNs < 0;
        bool hasChanged = view.Rank != _view;
        foreach (LeaseDisk disk in read)
        {
            hasChanged |= _seen.TryGetValue(disk.Number, out ulong before) && before != disk.Area!.BlocksHash;
            _seen[disk.Number] = disk.Area!.BlocksHash;
        }

        if (isFirst || hasChanged)
        {
            _isMoving |= !isFirst;
            _stillSinceNs = nowNs;
            _view = view.Rank;
            _claim = null;
        }
    }

    private async LaneTask<LeaseAnswer> Claim(PoolEnvironment environment, LeaseVotes votes, List<LeaseDisk> read, LeaseSight sight, long decidedNs)
    {
        SessionToken claim = sight.Above(environment.Lane);
        LeaseClaim record = new(claim, environment.Host.Node);
        List<LeaseDisk> claimed = await LeaseRound.Run(environment.Lane, read, disk => disk.Write(record), PatienceNs);
        long nowNs = environment.Lane.BootNs;
        if (!votes.AreMajority(claimed, withWitness: false) || nowNs - decidedNs >= LeaseTimes.ClaimNs)
        {
            return LeaseAnswer.Refuse("a claim cannot be written to the majority of its disks");
        }

        (_claim, _claimedNs) = (claim, nowNs);
        return LeaseAnswer.Wait($"{sight.LastHolder} {Waiting(0, LeaseTimes.ClaimWaitNs)}");
    }

    private async LaneTask<LeaseAnswer> EndClaim(
        PoolEnvironment environment, LeaseVotes votes, List<LeaseDisk> read, LeaseSight sight, SessionToken claim, ulong promised)
    {
        _claim = null;
        bool isMine = votes.AreMajority(read.FindAll(disk => disk.Area!.Claimed.Any(one => one.Session == claim)), withWitness: false);
        if (isMine && !sight.IsAbove(claim, environment.Host.Node))
        {
            return await Serve(environment, votes, read, promised, claim, isTaken: true);
        }

        return Yield(environment.Lane);
    }

    /// <summary>Writes the session, reads back, and has the lease if no other host has gone further.</summary>
    private async LaneTask<LeaseAnswer> Serve(
        PoolEnvironment environment, LeaseVotes votes, List<LeaseDisk> read, ulong promised, SessionToken session, bool isTaken)
    {
        ILane lane = environment.Lane;
        long startNs = lane.BootNs;
        Dictionary<DiskNumber, LeaseArea> before = read.ToDictionary(static disk => disk.Number, static disk => disk.Area!);
        LeaseBlock block = new(session, environment.Host, Counter: 1, lane.UtcNow.UtcTicks, LeaseState.Serving, ClaimsHash: 0);
        List<LeaseDisk> written = await LeaseRound.Run(
            lane, read, disk => disk.Write(block with { ClaimsHash = disk.Area!.ClaimsHash }, isDurable: true), PatienceNs);
        List<LeaseDisk> isBack = written.FindAll(
            disk => disk.Area!.Leases.Any(one => one.Session == session) && disk.Area.Torn.All(number => before[disk.Number].Torn.Contains(number)));
        bool isWhole = votes.AreMajority(isBack, withWitness: !isTaken)
            && !new LeaseSight(written, promised, environment.Host, votes.HasWitness).IsAbove(session, environment.Host.Node)
            && (isTaken ? votes.AreMajority(written.FindAll(disk => disk.Area!.Claimed.Any(one => one.Session == session)), withWitness: false)
                : written.TrueForAll(disk => disk.Area!.ClaimsHash == before[disk.Number].ClaimsHash));
        _seen.Clear();
        _stillSinceNs = -1;
        if (!isWhole)
        {
            return Yield(lane);
        }

        IsForced = false;
        return LeaseAnswer.Of(new LeaseGrant(session, startNs + LeaseTimes.LeaseNs, read, isTaken, votes.View.Rank));
    }

    private LeaseAnswer Yield(ILane lane)
    {
        _notBeforeNs = lane.BootNs + (long)(lane.NextRandom() % (ulong)LeaseTimes.ClaimNs);   // two takers could void each other for ever
        return LeaseAnswer.Wait("another host wants it, too");
    }
}
