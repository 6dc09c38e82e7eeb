using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Management;

// A registered disk has a record that the host keeps, a device, and a condition that tells whether it is used. It lives on the control lane; its methods are
// what happens to it, and change record, device and condition together.
//
// Invariants
//  1. A disk is refused as a copy, is released, or is neither: IsReleased is set only by Release, and Refuse ends it.
//  2. HasServed follows the identity on the disk: it ends when the disk holds another one, or another device of the identity serves.

/// <summary>A disk that a user has registered with the host. Members are recognised by their label, whatever path they came by.</summary>
/// <param name="stored">Its record.</param>
internal sealed class RegisteredDisk(StoredDisk stored)
{
    private bool _isReleased;   // it was refused as a copy, is none any more, and waits to be used

    /// <summary>Its record in the list of the host.</summary>
    internal StoredDisk Stored { get; private set; } = stored;

    /// <summary>Its device.</summary>
    internal DiskDevice Device { get; } = new();

    /// <summary>Its content, and the reasons against using it.</summary>
    internal DiskCondition Condition { get; private set; } = new();

    /// <summary>The search for it while it is not there.</summary>
    internal DiskSearch Search { get; } = new();

    /// <summary>Whether it is the device of its disk identity that served last since the host started.</summary>
    internal bool HasServed { get; private set; }

    /// <summary>Where it is, as the user says, or else as its enclosure reports.</summary>
    internal DiskPlace KnownPlace => Stored.KnownPlace(Device.Identity);

    /// <summary>The list holds another record of it from here on. The caller writes the list, and puts back the former record if that fails.</summary>
    internal void Amend(StoredDisk record) => Stored = record;

    /// <summary>It is about to be opened: what spoke against using it is found out again.</summary>
    internal void BeginOpening() => Condition = Condition with { Problem = "", IsSplit = false, Copy = CopyState.None, IsStillHeld = false };

    /// <summary>It is not there, or cannot be opened. A disk that is held by a process that has ended counts as held until it is opened again.</summary>
    internal void Lost(string problem, CannotPoolKind kind) => Condition = Condition with
    {
        Scan = null, Problem = problem, ProblemKind = kind, IsStillHeld = Condition.IsStillHeld || kind == CannotPoolKind.Starting,
    };

    /// <summary>It was looked for, and is there again: the host has it open.</summary>
    internal void Found(IDisk device)
    {
        Device.Opened(device);
        Condition = Condition with { Problem = "", IsSplit = false };
    }

    /// <summary>
    /// A scan tells what it holds. Returns whether the record has changed: it is another member now, or none. A disk that cannot be read is what it was.
    /// </summary>
    internal bool Saw(PoolScan scan)
    {
        ReadAgain(scan);
        Guid member = scan.Label?.Disk.Value ?? Guid.Empty;
        if (scan.Kind == ScanKind.Unreadable || member == Stored.LastMember)
        {
            return false;
        }

        Stored = Stored with { LastMember = member };
        HasServed = false;
        return true;
    }

    /// <summary>It was read again as the member that it is: what it holds may be newer, or may not be there.</summary>
    internal void ReadAgain(PoolScan scan) => Condition = Condition with { Scan = scan };

    /// <summary>A pool has looked at it: it takes it, or rejects it and says why.</summary>
    internal void Judged(string rejected, bool isOfOtherHistory) => Condition = Condition with { Problem = rejected, IsSplit = isOfOtherHistory };

    /// <summary>A pool owns its device from here on.</summary>
    internal void GivenToPool()
    {
        Device.GivenToPool();
        Condition = Condition with { Problem = "" };
        HasServed = true;
    }

    /// <summary>Of the devices with its disk identity, one serves.</summary>
    internal void ServedBy(RegisteredDisk serving) => HasServed = serving == this;

    /// <summary>It is there, and refused as a copy. Returns whether the reason is another one than before.</summary>
    internal bool Refuse(CopyState state, string problem)
    {
        bool isNew = Condition.Problem != problem;
        Condition = Condition with { Copy = state, Problem = problem };
        _isReleased = false;
        return isNew;
    }

    /// <summary>It is not there, and another device with its disk identity is used.</summary>
    internal void RefuseAbsent() => Condition = Condition with
    {
        Copy = CopyState.Refused, Problem = Condition.Problem.Length > 0 ? Condition.Problem : $"{Stored.Uri} is not there.",
    };

    /// <summary>If it was refused as a copy, it is none any more, and waits to be used.</summary>
    internal void Release()
    {
        if (Condition.Copy != CopyState.None)
        {
            Condition = Condition with { Copy = CopyState.None, Problem = Device.Open is null ? Condition.Problem : "" };
            _isReleased = true;
        }
    }

    /// <summary>Returns whether it waits to be used since it was released; it does not any more.</summary>
    internal bool TakeRelease() => _isReleased && !(_isReleased = false);

    /// <summary>Returns the disk as it is now; called on the lane.</summary>
    internal RegisteredDiskSnapshot Snapshot() => new(Stored, Condition)
    {
        IsOpen = Device.Open is not null,
        Identity = Device.Identity,
        Counters = Device.LastOpened?.LifetimeCounters(),
        WorkingUris = Device.Working(Stored.Uris),
        NextLookNs = Search.NextNs,
    };
}
