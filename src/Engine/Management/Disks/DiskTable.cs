using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Registered disks and what is looked up in them. A disk is known by its own identity, and by that of the member it is while it is one.
//
// Invariants
//  1. The list in the host's state is that of the table: a change that cannot be written there is not made.

/// <summary>The registered disks, the changes of their list, and which members of pools they are.</summary>
internal sealed class DiskTable(DiskRegistry registry, PoolTable pools, Action<string> notice)
{
    /// <summary>Devices that carry the identity of another one.</summary>
    internal DiskCopies Copies { get; } = new(registry, pools, notice);

    /// <summary>Every registered disk, in the order of registration.</summary>
    internal IReadOnlyList<RegisteredDisk> All => registry.Disks;

    /// <summary>Position of the next disk that is registered.</summary>
    internal int NextDeviceId => registry.NextDeviceId;

    /// <summary>Whether a process that has ended still has a registered disk open.</summary>
    internal bool HasHeldDisks => registry.Disks.Exists(static disk => disk.Condition.IsStillHeld);

    /// <summary>Reads the list. Returns a message about what could not be read, or nothing.</summary>
    internal LaneTask<string> Load() => registry.Load();

    /// <summary>Lists a disk that was opened for it.</summary>
    /// <exception cref="ManagementException">The list cannot be written; the disk is not listed.</exception>
    internal async LaneTask<Nothing> Add(RegisteredDisk disk, string path)
    {
        registry.Disks.Add(disk);
        try
        {
            return await registry.Save();
        }
        catch (IOException full)
        {
            registry.Disks.Remove(disk);
            throw NotKept(full, $"-Path '{path}': the physical disk is not registered");
        }
    }

    /// <summary>Takes a disk off the list; it is still open.</summary>
    /// <exception cref="ManagementException">The list cannot be written; the disk is listed as before.</exception>
    internal async LaneTask<Nothing> Remove(RegisteredDisk disk)
    {
        int place = registry.Disks.IndexOf(disk);
        registry.Disks.RemoveAt(place);
        try
        {
            return await registry.Save();
        }
        catch (IOException full)
        {
            registry.Disks.Insert(place, disk);   // open and locked as before
            throw NotKept(full, $"Physical disk '{disk.Stored.FriendlyName}' stays registered");
        }
    }

    /// <summary>Adds a path to a disk.</summary>
    /// <exception cref="ManagementException">The list cannot be written; nothing was changed.</exception>
    internal LaneTask<Nothing> AddPath(RegisteredDisk disk, string uri, string path) =>
        Amend(disk, disk.Stored.WithPaths([.. disk.Stored.Uris, uri]), $"-Path '{path}': the path is not registered");

    /// <summary>Removes a path of a disk that has several.</summary>
    /// <exception cref="ManagementException">The list cannot be written; nothing was changed.</exception>
    internal LaneTask<Nothing> RemovePath(RegisteredDisk disk, string uri) =>
        Amend(disk, disk.Stored.WithPaths([.. disk.Stored.Uris.Where(other => other != uri)]), $"Physical disk '{disk.Stored.FriendlyName}' stays as it is");

    /// <summary>Makes the path of a registered disk one of another disk. A path that cannot be kept is found again at the next start.</summary>
    internal async LaneTask<Nothing> Merge(RegisteredDisk disk, RegisteredDisk other)
    {
        disk.Amend(disk.Stored.WithPaths([.. disk.Stored.Uris, .. other.Stored.Uris]));
        registry.Disks.Remove(other);
        await Keep();
        return default;
    }

    /// <summary>Changes what the user says of a disk that is not a member; null: as before.</summary>
    /// <exception cref="ManagementException">The list cannot be written; nothing was changed.</exception>
    internal LaneTask<Nothing> Set(RegisteredDisk disk, string? name, string? description, MediaType? mediaType, PlaceChange place)
    {
        StoredDisk now = disk.Stored;
        return Amend(disk, (now with
        {
            FriendlyName = name ?? now.FriendlyName,
            Description = description ?? now.Description,
            Overrides = mediaType is { } media ? now.Overrides with { MediaType = media } : now.Overrides,
        }).At(place == new PlaceChange() ? now.Place : disk.KnownPlace.With(place)), $"Physical disk '{now.FriendlyName}' stays as it is");
    }

    /// <summary>Notes what a disk turned out to hold; kept for the time that it may be away. One that cannot be read is what it was.</summary>
    internal void Saw(RegisteredDisk disk, PoolScan scan)
    {
        if (disk.Saw(scan))
        {
            Keep().Forget();
        }
    }

    /// <summary>Returns a registered disk by its identity.</summary>
    /// <exception cref="ManagementException">There is none.</exception>
    internal RegisteredDisk Take(Guid id) => Find(id) ?? throw new ManagementException(
        ManagementError.ObjectNotFound, $"There is no registered physical disk {id}.", "Look at Get-PhysicalDisk.");

    /// <summary>Returns a registered disk by its identity, or null.</summary>
    internal RegisteredDisk? Find(Guid id) => registry.Disks.Find(disk => IdOf(disk) == id);

    /// <summary>Identity of a disk: that of the member it is, or its own.</summary>
    internal Guid IdOf(RegisteredDisk disk) => Member(disk)?.Id.Value ?? disk.Stored.Id;

    /// <summary>Name of a disk: that of the member it is, or its own.</summary>
    internal string NameOf(RegisteredDisk disk) => Member(disk)?.FriendlyName ?? disk.Stored.FriendlyName;

    /// <summary>Whether a disk is used by an open pool.</summary>
    internal bool IsInOpenPool(RegisteredDisk disk) =>
        disk.Device.Open is null && disk.Condition.Problem.Length == 0 && pools.All.Any(pool => pool.Pool is not null && pool.MemberFor(disk) is not null);

    /// <summary>Whether a registered disk is a member of an open pool and missing there.</summary>
    internal bool IsAway(RegisteredDisk disk) =>
        disk is { Device.Open: null, Condition.Label: { } label } && pools.FindOpen(label.Pool) is { } pool
        && pool.MissingDisks.Contains(label.Number) && !pool.OutsideDisks.Contains(label.Number);

    /// <summary>Whether a registered disk could not be opened since the host started, so that it is not known what it holds.</summary>
    internal static bool IsUnknown(RegisteredDisk disk) => disk is { Device.Open: null, Condition.Scan: null };

    /// <summary>Returns the absence of a disk from its pool; null if the disk has not left.</summary>
    internal Absence? AbsenceOf(RegisteredDisk disk) =>
        disk.Condition.Label is { } label ? pools.Find(label.Pool)?.Absences.GetValueOrDefault(label.Number) : null;

    private async LaneTask<Nothing> Amend(RegisteredDisk disk, StoredDisk record, string outcome)
    {
        StoredDisk before = disk.Stored;
        disk.Amend(record);
        try
        {
            return await registry.Save();
        }
        catch (IOException full)
        {
            disk.Amend(before);
            throw NotKept(full, outcome);
        }
    }

    private async LaneTask Keep()
    {
        try
        {
            await registry.Save();
        }
        catch (IOException full)
        {
            notice($"The list of registered disks cannot be kept: {full.Message}");
        }
    }

    private DiskDescription? Member(RegisteredDisk disk) => pools.All.Select(pool => pool.MemberFor(disk)).FirstOrDefault(static member => member is not null);

    private static ManagementException NotKept(IOException failure, string outcome) => new(
        FileErrors.Of(failure), $"{outcome}: the list of registered disks cannot be written: {failure.Message}",
        "Free space in the folder of the host's state, then try again.");
}
