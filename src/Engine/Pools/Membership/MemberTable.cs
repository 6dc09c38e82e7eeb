using TierSpaces.Engine.Devices;

namespace TierSpaces.Engine.Pools;

// The member disks of a pool as their users see them.
//
// Invariants
//  1. A table never changes. The pool replaces it when a disk joins, fails or leaves.
//  2. A disk of the table is in the view in force and has not failed.
//  3. A disk that is leaving has failed, and the view in force still has it. No write that it missed is acknowledged before a table without it.

/// <summary>The usable member disks of a pool at one moment.</summary>
/// <param name="disks">The disks by their number; null where a disk is missing or has failed.</param>
/// <param name="leaving">Numbers of the disks that are leaving.</param>
public sealed class MemberTable(IDisk?[] disks, IReadOnlyCollection<int> leaving)
{
    /// <summary>A table without disks.</summary>
    public static MemberTable Empty { get; } = new([], []);

    /// <summary>Returns a member disk, or null while it is missing, has failed or is out of the view.</summary>
    /// <param name="number">Number of the disk in its pool.</param>
    public IDisk? Disk(int number) => (uint)number < (uint)disks.Length ? disks[number] : null;

    /// <summary>Returns whether a disk has failed that the view in force still has.</summary>
    public bool IsLeaving(int number) => leaving.Count > 0 && leaving.Contains(number);
}
