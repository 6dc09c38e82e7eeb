using System.Globalization;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Pools;

/// <summary>Result of a look at the lease areas of a pool. Pure.</summary>
internal sealed class LeaseSight
{
    private readonly List<LeaseDisk> _read;
    private readonly LeaseBlock? _top;
    private readonly ulong _highest;
    private readonly HostIdentity _host;
    private readonly bool _isDamaged;   // a damaged block may be that of a host which serves: it is waited for like one that is silent

    /// <summary>Judges areas that were read.</summary>
    /// <param name="read">The disks.</param>
    /// <param name="promised">Highest session that any of them has promised to.</param>
    /// <param name="host">This host.</param>
    /// <param name="hasWitness">Whether this host has the witness of the view: it was the last to change it.</param>
    internal LeaseSight(List<LeaseDisk> read, ulong promised, HostIdentity host, bool hasWitness)
    {
        _read = read;
        _host = host;
        _top = read.SelectMany(static disk => disk.Area!.Leases)
            .OrderByDescending(static block => block.Session.Session).ThenByDescending(static block => block.Session.Token)
            .ThenByDescending(static block => block.Counter).FirstOrDefault();
        ulong claimed = read.SelectMany(static disk => disk.Area!.Claimed).Select(static claim => claim.Session.Session).DefaultIfEmpty().Max();
        _highest = Math.Max(promised, Math.Max(_top?.Session.Session ?? 0, claimed));
        _isDamaged = read.Exists(static disk => disk.Area!.IsTorn);
        bool isNewest = _top is not null && _top.Session.Session >= promised;
        bool isDamagedOwn = !isNewest && IsDamagedSession(promised) && (hasWitness || _top?.Host.Node == host.Node || HasClaimed(promised));
        IsOfThisNode = isDamagedOwn || _top?.Host.Node == host.Node;
        IsClosed = !_isDamaged && (isNewest ? _top!.State == LeaseState.Closed : _top is null);
        IsOwn = isDamagedOwn || (isNewest && IsOfThisNode && read.TrueForAll(HasKnownClaims));
    }

    /// <summary>Whether the last holder was this host, and no other one has claimed the pool since.</summary>
    internal bool IsOwn { get; }

    /// <summary>Whether the last holder has the identity of this host.</summary>
    internal bool IsOfThisNode { get; }

    /// <summary>Whether the last holder has closed the pool, or there has never been one.</summary>
    internal bool IsClosed { get; }

    /// <summary>Time for which nothing may have changed before this host goes on with its own pool.</summary>
    internal long StillBeforeReopening => _isDamaged ? LeaseTimes.SilenceNs : IsClosed || _top!.Host.Boot == _host.Boot ? 0 : LeaseTimes.TwinNs;

    /// <summary>The holder, in words.</summary>
    internal string Holder => _top is null ? _isDamaged ? "the record of its host is damaged" : "no host has held it yet"
        : $"host '{_top.Host.Name}' holds it (last renewal {Time})";

    /// <summary>The last holder, as a sentence.</summary>
    internal string LastHolder => _top is null && _isDamaged ? "The record of its last host is damaged." : _top is null ? "No host has held it yet." : $"It was last held by host '{_top.Host.Name}' (last renewal {Time}).";

    private string Time => new DateTimeOffset(_top!.UtcTicks, TimeSpan.Zero).ToString("yyyy-MM-dd HH:mm:ss", CultureInfo.InvariantCulture) + " UTC";

    /// <summary>A session above everything that was read.</summary>
    internal SessionToken Above(ILane lane) => new(_highest + 1, lane.NextRandom());

    /// <summary>Whether another host has gone as far as a session, or further: by a lease, or by a claim that goes before it.</summary>
    internal bool IsAbove(SessionToken session, Guid node) =>
        _read.SelectMany(static disk => disk.Area!.Leases).Any(block => block.Session != session && block.Session.Session >= session.Session)
        || _read.SelectMany(static disk => disk.Area!.Claimed).Any(claim => claim.Node != node && (claim.Session.Session > session.Session
            || (claim.Session.Session == session.Session && claim.Node.CompareTo(node) < 0)));

    /// <summary>
    /// Whether the block of the session that the disks have promised to is damaged, and no other host has claimed that session or a later one: who serves
    /// without a claim has held the pool before.
    /// </summary>
    private bool IsDamagedSession(ulong promised) =>
        _read.Exists(disk => disk.Area!.Torn.Contains(LeaseArea.BlockOf(promised)))
        && !_read.Exists(disk => disk.Area!.HasTornClaim
            || disk.Area.Claimed.Any(claim => claim.Node != _host.Node && claim.Session.Session >= promised));

    private bool HasClaimed(ulong session) =>
        _read.Exists(disk => disk.Area!.Claimed.Any(claim => claim.Node == _host.Node && claim.Session.Session == session));

    /// <summary>
    /// Whether no host has claimed the pool on a disk since the last holder read its claims. A damaged claim is waited for: its host has a session by then, or
    /// begins again.
    /// </summary>
    private bool HasKnownClaims(LeaseDisk disk) =>
        disk.Area!.HasTornClaim ? !disk.Area.Claimed.Any(claim => claim.Node != _host.Node && claim.Session.Session > _top!.Session.Session)
        : disk.Area.Leases.FirstOrDefault(block => block.Session == _top!.Session)?.ClaimsHash is { } known ? known == disk.Area.ClaimsHash
        : !disk.Area.Claimed.Any();
}
