using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Whether another device carries the disk identity of a registered disk.</summary>
internal enum CopyState
{
    /// <summary>No other device carries its identity, or it is the one that is used.</summary>
    None,

    /// <summary>Another device with its identity is used, or was used last.</summary>
    Refused,

    /// <summary>Another device with its identity is there, and nothing tells which of them is the member: none is used.</summary>
    Undecided,
}

// Devices with one disk identity: an image file or a disk was copied, and both are registered. Which of them is used, by what is known of them:
//
//   one serves in an open pool               that one; the others are refused, and stay refused while it is away
//   none has served since the host started,  that one
//   and one is there
//   one is registered while none is there    that one, from now on
//   none has served, and several are there   none, until one is left: the others were taken away, unregistered or reset
//
// Invariants
//  1. At most one device of an identity is used.
//  2. A device that is refused keeps its registration. It is neither read nor written, but by Reset-PhysicalDisk.

/// <summary>Finds registered disks that carry the identity of another one, and decides which of them is used.</summary>
internal sealed class DiskCopies(DiskRegistry registry, PoolTable pools, Action<string> notice)
{
    /// <summary>
    /// Decides for every registered disk whether it is refused as a copy. A disk that is refused no more is released, see <see cref="TakeReleased"/>.
    /// </summary>
    internal void Review()
    {
        foreach (IGrouping<Guid, RegisteredDisk> same in registry.Disks.Where(static disk => IdentityOf(disk) != Guid.Empty).GroupBy(IdentityOf))
        {
            Decide([.. same]);
        }

        foreach (RegisteredDisk single in registry.Disks.Where(static disk => disk.Condition.Copy != CopyState.None && IdentityOf(disk) == Guid.Empty))
        {
            single.Release();
        }
    }

    /// <summary>Returns the disks that were refused as copies, are there and may be used now; each is returned once.</summary>
    internal RegisteredDisk[] TakeReleased()
    {
        RegisteredDisk[] released = [.. registry.Disks.Where(static disk => disk.TakeRelease())];
        return Array.FindAll(released, static disk => disk is { Condition.Copy: CopyState.None, Device.Open: not null });
    }

    /// <summary>Returns another registered disk that carries the identity of a disk and is there or in use; null if there is none.</summary>
    internal RegisteredDisk? OriginalOf(RegisteredDisk disk) => disk.Condition.Label is not { } label ? null
        : registry.Disks.Find(other => other != disk && IdentityOf(other) == label.Disk.Value
            && (other.Condition.IsStillHeld || IsThere(other) || IsServing(other)));

    /// <summary>A user has registered a disk while no other one with its identity is there: it is used in place of the one that served.</summary>
    internal void Prefer(RegisteredDisk disk)
    {
        foreach (RegisteredDisk other in registry.Disks.Where(other => disk.Condition.Label is { } label && IdentityOf(other) == label.Disk.Value))
        {
            other.ServedBy(disk);
        }
    }

    /// <summary>Names the devices of a pool that carry one disk identity, of which none is used; empty when there are none.</summary>
    internal string ReasonOf(PoolId pool) => string.Join(' ', registry.Disks
        .Select(static disk => disk.Condition).Where(condition => condition is { Copy: CopyState.Undecided, Label: { } label } && label.Pool == pool)
        .Select(static condition => condition.Problem).Distinct());

    private void Decide(RegisteredDisk[] same)
    {
        RegisteredDisk? serving = Array.Find(same, IsServing);
        RegisteredDisk[] there = Array.FindAll(same, IsThere);
        RegisteredDisk? used = serving ?? Array.Find(same, static disk => disk.HasServed) ?? there.Length switch
        {
            0 => same[0],
            1 => there[0],
            _ => null,
        };
        string names = string.Join(" and ", there.Select(static disk => disk.Stored.Uri));
        foreach (RegisteredDisk disk in same)
        {
            if (serving is not null)
            {
                disk.ServedBy(serving);
            }

            if (disk == used)
            {
                disk.Release();
            }
            else if (!IsThere(disk))
            {
                disk.RefuseAbsent();
            }
            else if (used is null)
            {
                Refuse(disk, CopyState.Undecided, $"{names} carry one disk identity ({IdentityOf(disk)}): one is a copy of the other. None of them is used. "
                    + "Take one of them away, unregister it (Unregister-PhysicalDisk -Path), or make it a new disk (Reset-PhysicalDisk).");
            }
            else
            {
                Refuse(disk, CopyState.Refused, $"{disk.Stored.Uri} carries the disk identity of {used.Stored.Uri}, which {(serving is null ? "served last" : "is in use")}: "
                    + "one is a copy of the other. It is not used. Take it away, unregister it (Unregister-PhysicalDisk -Path), or make it a new disk (Reset-PhysicalDisk).");
            }
        }
    }

    private void Refuse(RegisteredDisk disk, CopyState state, string problem)
    {
        if (disk.Refuse(state, problem))
        {
            notice($"Warning: {problem}");
        }
    }

    /// <summary>Whether an open pool uses this device, and not another one with its identity.</summary>
    private bool IsServing(RegisteredDisk disk) =>
        disk is { Device.Open: null, Device.LastOpened: { } device, Condition.Label: { } label } && pools.FindOpen(label.Pool) is { } pool
        && (pool.Disk(label.Number) == device || pool.Membership.Outside.GetValueOrDefault(label.Number)?.Disk == device);

    private static bool IsThere(RegisteredDisk disk) => disk.Device.Open is { IsPresent: true };

    /// <summary>The identity on a disk, or the one that was on it when it was last there; empty for one that has none.</summary>
    private static Guid IdentityOf(RegisteredDisk disk) =>
        disk.Condition.Scan is { Kind: not ScanKind.Unreadable } scan ? scan.Label?.Disk.Value ?? Guid.Empty : disk.Stored.LastMember;
}
