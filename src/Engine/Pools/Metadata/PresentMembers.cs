using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// The present members of the view in force, and those of them that have failed since.
//
// Invariants
//  1. A disk that has failed is not used any more, although the view in force still has it: the next view is without it.
//  2. Table says what All, View and the failures say: every change of these makes a new one.
//  3. The view changes only when a majority of its votes holds the next one (MemberViews).

/// <summary>The view in force and its present members.</summary>
internal sealed class PresentMembers
{
    private readonly StoreEnd _end;
    private readonly Action _failed;
    private readonly Dictionary<DiskNumber, MemberDisk> _disks = [];
    private readonly Dictionary<DiskNumber, string> _failures = [];   // members to be taken out of the view, and why
    private MemberTable? _table;   // null: to be made

    /// <summary>Starts with a view and no disks.</summary>
    /// <param name="view">View that the members hold.</param>
    /// <param name="end">Whether the pool is closed: from then on no disk fails.</param>
    /// <param name="failed">Called when a disk has failed.</param>
    internal PresentMembers(PoolView view, StoreEnd end, Action failed)
    {
        _end = end;
        _failed = failed;
        View = view;
    }

    /// <summary>The members as their users see them.</summary>
    internal MemberTable Table => _table ??= MakeTable();

    /// <summary>The view in force.</summary>
    internal PoolView View { get; private set; }

    /// <summary>Present members of the view, failed or not.</summary>
    internal IReadOnlyDictionary<DiskNumber, MemberDisk> All => _disks;

    /// <summary>Number of members that have failed, or joiners that have.</summary>
    internal int FailureCount => _failures.Count;

    /// <summary>Reasons why members have failed, for messages.</summary>
    internal IEnumerable<string> FailureReasons => _failures.Values;

    /// <summary>Metadata disks that have not failed.</summary>
    internal MemberDisk[] Metadata => [.. _disks.Values.Where(member => View.IsMetadata(member.Number) && !IsFailed(member.Number))];

    /// <summary>Members that wait for space on the file system below them.</summary>
    internal IEnumerable<MemberDisk> Full => _disks.Values.Where(static member => member.FullSinceNs != 0);

    /// <summary>Whether a member may be used.</summary>
    internal bool IsUsable(DiskNumber disk) => Usable(disk) is not null;

    /// <summary>A member that may be used; null for any other disk.</summary>
    internal MemberDisk? Usable(DiskNumber disk) =>
        _disks.TryGetValue(disk, out MemberDisk? member) && View.Contains(disk) && !IsFailed(disk) ? member : null;

    /// <summary>Whether a disk has failed since the view in force was decided.</summary>
    internal bool IsFailed(DiskNumber disk) => _failures.Count > 0 && _failures.ContainsKey(disk);

    /// <summary>Whether a majority of the votes and a disk that holds the metadata, or can take them, are left without this disk.</summary>
    internal bool CanSpare(DiskNumber disk) =>
        View.Votes.IsMajority(vote => vote != disk && IsUsable(vote), View.Witness != Guid.Empty)
        && _disks.Keys.Any(other => other != disk && (View.MembersVote || View.IsMetadata(other)) && IsUsable(other));

    /// <summary>Adds a present member of the view.</summary>
    internal void Add(MemberDisk disk)
    {
        _disks[disk.Number] = disk;
        _table = null;
    }

    /// <summary>Removes a disk that is no member any more; gives it if it was present.</summary>
    internal MemberDisk? Remove(DiskNumber disk)
    {
        _table = null;
        return _disks.Remove(disk, out MemberDisk? member) ? member : null;
    }

    /// <summary>A view is in force.</summary>
    internal void Adopt(PoolView view)
    {
        View = view;
        _table = null;
    }

    /// <summary>Remembers that a disk has failed.</summary>
    internal void NoteFailure(MemberDisk disk, string reason)
    {
        if (!_end.IsClosed && _failures.TryAdd(disk.Number, reason))
        {
            disk.FailWhenFull();
            _table = null;
            _failed();
        }
    }

    /// <summary>Forgets that a disk which is not a member has failed; gives the reason, or an empty string.</summary>
    internal string ForgetFailure(DiskNumber disk)
    {
        _table = null;
        return _failures.Remove(disk, out string? reason) ? reason : "";
    }

    private MemberTable MakeTable()
    {
        IDisk?[] disks = new IDisk?[_disks.Count == 0 ? 0 : _disks.Keys.Max(static disk => disk.Value) + 1];
        foreach (MemberDisk member in _disks.Values.Where(member => IsUsable(member.Number)))
        {
            disks[member.Number.Value] = member.Disk;
        }

        return new MemberTable(disks, [.. _failures.Keys.Where(View.Contains).Select(static disk => (int)disk.Value)]);
    }
}
