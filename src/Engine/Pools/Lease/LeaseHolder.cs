using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// The host that serves a pool says so on every member each two seconds, and reads back whether another host has gone further. It knows from that how long
// it may serve: the lease runs 20 s from before the write that was read back on the majority of the votes. Where there is no room for the write (a full file
// system that copies what it writes) it runs 11 s from before a reading alone: a claim that came after the reading is awaited longer than that. Nothing is
// taken on trust beyond: requests are held back at the member disks (LeaseGate) until a renewal succeeds again, or another host is seen; then the pool is
// lost to it for good.
//
// Invariants
//  1. The lease runs only as long as no other host can have taken the pool by waiting for this one.
//  2. While a view is being changed, a majority is one of the votes before and one of the votes after.
//  3. A disk has a vote only when this session is on it (Prepare).
//  4. The last write says that the pool is closed; nothing of this session is under way then.

/// <summary>Holds the lease of an open pool.</summary>
internal sealed class LeaseHolder
{
    private const long RetryNs = 100_000_000;

    private readonly ILane _lane;
    private readonly HostIdentity _host;
    private readonly SessionToken _session;
    private readonly Dictionary<MemberDisk, LeaseDisk> _disks = [];
    private readonly LaneSignal _ended = new();
    private PresentMembers? _members;
    private Action<string>? _lost;
    private ulong _counter = 1;
    private bool _isRunning;
    private bool _isClosing;

    /// <summary>A holder of a new session, which is on no disk yet.</summary>
    internal LeaseHolder(PoolEnvironment environment, SessionToken session)
        : this(environment, new LeaseGrant(session, environment.Lane.BootNs + LeaseTimes.LeaseNs, [], IsTaken: false, default))
    {
    }

    /// <summary>A holder of a lease that was taken.</summary>
    internal LeaseHolder(PoolEnvironment environment, LeaseGrant grant)
    {
        (_lane, _host, _session) = (environment.Lane, environment.Host, grant.Session);
        Gate = new LeaseGate(grant.UntilNs);
        foreach (LeaseDisk disk in grant.Disks)
        {
            _disks[disk.Member] = disk;
        }
    }

    /// <summary>The session.</summary>
    internal SessionToken Session => _session;

    /// <summary>Tells whether the lease runs.</summary>
    internal LeaseGate Gate { get; }

    /// <summary>Time on the wall clock since which requests are held back because the lease does not run; null: it runs.</summary>
    internal DateTimeOffset? PausedSince { get; private set; }

    /// <summary>The pool is open under the lease.</summary>
    /// <param name="members">Its members from now on.</param>
    /// <param name="lost">Told with the reason when the pool belongs to another host.</param>
    internal void Use(PresentMembers members, Action<string> lost) => (_members, _lost) = (members, lost);

    /// <summary>Renews until the pool is closed.</summary>
    internal void Start()
    {
        if (!_isRunning && !_isClosing)
        {
            _isRunning = true;
            Run().Forget();
        }
    }

    /// <summary>Puts the session on a disk that is about to join, in place of whatever its lease area holds.</summary>
    internal async LaneTask<IoError> Prepare(MemberDisk member)
    {
        LeaseDisk disk = new(_lane, member);
        LeaseBlock block = Block(LeaseState.Serving);
        bool isDone = (await LeaseRound.Run(_lane, [disk], one => one.Clear(block), LeaseTimes.ClaimNs)).Count == 1;
        if (isDone)
        {
            _disks[member] = disk;
        }

        return isDone ? IoError.None : IoError.TimedOut;
    }

    /// <summary>Ends the renewals and says on the disks that the pool is closed; nothing of it is under way any more.</summary>
    internal async LaneTask<Nothing> Close()
    {
        _isClosing = true;
        while (_isRunning)
        {
            await _ended.Wait();
        }

        if (!Gate.IsShut)
        {
            _counter++;
            await LeaseRound.Run(_lane, Disks(), disk => State(disk, LeaseState.Closed, isDurable: true), LeaseTimes.RenewalNs);
        }

        return default;
    }

    private async LaneTask Run()
    {
        while (!_isClosing && !Gate.IsShut)
        {
            await Renew();
            long waitNs = Gate.IsOpen(_lane) ? LeaseTimes.RenewalNs : RetryNs;
            for (long endNs = _lane.NowNs + waitNs; !_isClosing && !Gate.IsShut && _lane.NowNs < endNs;)
            {
                await _lane.Delay(RetryNs);
            }
        }

        _isRunning = false;
        _ended.NotifyAll();
    }

    private async LaneTask<Nothing> Renew()
    {
        long startNs = _lane.BootNs;
        PoolView before = _members!.View;
        _counter++;
        List<LeaseDisk> done = await LeaseRound.Run(
            _lane, Disks(), disk => State(disk, LeaseState.Serving, isDurable: false), LeaseTimes.RenewalNs);
        long lengthNs = LeaseTimes.LeaseNs;
        if (!AreMajorities(before, done))
        {
            (startNs, lengthNs) = (_lane.BootNs, LeaseTimes.ClaimNs);
            done = await LeaseRound.Run(_lane, Disks(), static disk => disk.Read(), LeaseTimes.RenewalNs);
        }

        if (WhoIsAbove(done) is { } other)
        {
            Gate.Shut();
            _lost?.Invoke(other);
        }
        else if (AreMajorities(before, done))
        {
            Gate.RunUntil(startNs + lengthNs);
            await LeaseRound.Run(_lane, done.FindAll(static disk => disk.Area!.IsTorn), Mend, LeaseTimes.RenewalNs);
        }

        PausedSince = Gate.IsOpen(_lane) ? null : PausedSince ?? _lane.UtcNow;
        return default;
    }

    /// <summary>Blanks the damaged blocks of a disk, and states the claims that it has then.</summary>
    private async LaneTask<IoError> Mend(LeaseDisk disk)
    {
        IoError error = await disk.Blank(LeaseArea.BlockOf(_session.Session));
        if (error == IoError.None)
        {
            _counter++;
            error = await State(disk, LeaseState.Serving, isDurable: true);
        }

        return error;
    }

    /// <summary>Whether disks are the majority of the view that a renewal began under, and of the one that is in force after it.</summary>
    private bool AreMajorities(PoolView before, List<LeaseDisk> disks) => AreMajority(before, disks) && AreMajority(_members!.View, disks);

    private static bool AreMajority(PoolView view, List<LeaseDisk> disks) => new LeaseVotes(view, HasWitness: true).AreMajority(disks, withWitness: true);

    private string? WhoIsAbove(List<LeaseDisk> disks)
    {
        LeaseBlock? taken = disks.SelectMany(static disk => disk.Area!.Leases)
            .FirstOrDefault(block => block.Session != _session && block.Session.Session >= _session.Session);
        return taken is not null ? $"It was taken over by host '{taken.Host.Name}'."
            : disks.SelectMany(static disk => disk.Area!.Claimed).Any(claim => claim.Node != _host.Node && claim.Session.Session > _session.Session)
                ? "It is being taken over by another host." : null;
    }

    private LeaseDisk[] Disks()
    {
        MemberDisk[] present = [.. _members?.All.Values ?? []];
        if (present.Length == 0)
        {
            return [.. _disks.Values];   // the pool is being opened
        }

        foreach (MemberDisk gone in _disks.Keys.Except(present).ToArray())
        {
            _disks.Remove(gone);
        }

        return [.. present.Where(_disks.ContainsKey).Select(member => _disks[member])];
    }

    private LeaseBlock Block(LeaseState state) => new(_session, _host, _counter, _lane.UtcNow.UtcTicks, state, LeaseArea.NoClaims);

    /// <summary>Writes the session with the claims that the disk has; they are read first where that was not done yet.</summary>
    private async LaneTask<IoError> State(LeaseDisk disk, LeaseState state, bool isDurable)
    {
        IoError error = disk.Area is null ? await disk.Read() : IoError.None;
        return error == IoError.None ? await disk.Write(Block(state) with { ClaimsHash = disk.Area!.ClaimsHash }, isDurable) : error;
    }
}
