using System.Text.Json;
using System.Text.Json.Serialization;
using TierSpaces.Engine.Devices;

namespace TierSpaces.Host.Volumes;

/// <summary>
/// The file <c>volumes.json</c> in the host's state: numbers of disks, and mounts. Safe for concurrent calls.
/// <list type="number">
/// <item>A change is durable before <see cref="Change"/> returns.</item>
/// <item>A disk keeps its number until <see cref="Release"/>, over any number of restarts.</item>
/// </list>
/// </summary>
internal sealed class VolumeStore(IHostState state)
{
    private const string Name = "volumes.json";
    private readonly object _gate = new();
    private VolumeState? _current;

    /// <summary>Returns the current state; an empty one, with a line in the log, if the file cannot be parsed.</summary>
    public VolumeState Read()
    {
        lock (_gate)
        {
            return _current ??= Load();
        }
    }

    /// <summary>Changes the state durably; no write where nothing changes.</summary>
    /// <exception cref="IOException">It cannot be saved; it is as before.</exception>
    public VolumeState Change(Func<VolumeState, VolumeState> change)
    {
        lock (_gate)
        {
            VolumeState before = _current ??= Load();
            VolumeState after = change(before);
            if (!ReferenceEquals(before, after))
            {
                state.WriteFile(Name, JsonSerializer.SerializeToUtf8Bytes(after, VolumeJson.Default.VolumeState));
                _current = after;
            }

            return after;
        }
    }

    /// <summary>Returns the entry of a disk. A new disk gets the lowest number that is free, from 1.</summary>
    public DiskEntry EntryOf(string virtualDisk) => Change(state => state.Disks.Any(disk => disk.VirtualDisk == virtualDisk)
        ? state
        : state with { Disks = [.. state.Disks, new DiskEntry(virtualDisk, LowestFree(state), IsOffline: false, IsReadOnly: false)] })
        .Disks.First(disk => disk.VirtualDisk == virtualDisk);

    /// <summary>Replaces the entry of a disk.</summary>
    public void Put(DiskEntry entry) => Change(state => state with
    {
        Disks = [.. state.Disks.Where(disk => disk.VirtualDisk != entry.VirtualDisk), entry],
    });

    /// <summary>Gives the number of a disk back; its mounts are remembered for the next connection.</summary>
    public void Release(string virtualDisk) => Change(state => state.Disks.Any(disk => disk.VirtualDisk == virtualDisk)
        ? state with { Disks = [.. state.Disks.Where(disk => disk.VirtualDisk != virtualDisk)] }
        : state);

    /// <summary>Forgets a virtual disk that is removed.</summary>
    public void Forget(string virtualDisk) => Change(state => state with
    {
        Disks = [.. state.Disks.Where(disk => disk.VirtualDisk != virtualDisk)],
        Mounts = [.. state.Mounts.Where(mount => mount.VirtualDisk != virtualDisk)],
        Formats = [.. state.Formats.Where(format => format.VirtualDisk != virtualDisk)],
        Offline = [.. state.Offline.Where(offline => offline.VirtualDisk != virtualDisk)],
    });

    /// <summary>Forgets mounts and formats of partitions that are removed.</summary>
    public void Forget(string virtualDisk, params string[] partitions) => Change(state => state with
    {
        Mounts = [.. state.Mounts.Where(mount => mount.VirtualDisk != virtualDisk || !partitions.Contains(mount.Partition))],
        Formats = [.. state.Formats.Where(format => format.VirtualDisk != virtualDisk || !partitions.Contains(format.Partition))],
        Offline = [.. state.Offline.Where(offline => offline.VirtualDisk != virtualDisk || !partitions.Contains(offline.Partition))],
    });

    /// <summary>Whether a partition is offline.</summary>
    public bool IsOffline(string virtualDisk, string partition) => Read().Offline.Contains(new OfflineEntry(virtualDisk, partition));

    /// <summary>Takes a partition offline or online.</summary>
    public void SetOffline(string virtualDisk, string partition, bool isOffline) => Change(state => state with
    {
        Offline =
        [
            .. state.Offline.Where(offline => offline != new OfflineEntry(virtualDisk, partition)),
            .. isOffline ? (OfflineEntry[])[new OfflineEntry(virtualDisk, partition)] : [],
        ],
    });

    /// <summary>Notes that a volume is being made on a virtual disk, or, with null, that it is made or taken away.</summary>
    public void SetCreation(string virtualDisk, CreationEntry? creation) => Change(state => state with
    {
        Creations = [.. state.Creations.Where(other => other.VirtualDisk != virtualDisk), .. creation is { } begun ? (CreationEntry[])[begun] : []],
    });

    private static int LowestFree(VolumeState state) =>
        Enumerable.Range(1, state.Disks.Length + 1).First(number => state.Disks.All(disk => disk.Number != number));

    private VolumeState Load()
    {
        try
        {
            return state.ReadFile(Name) is { } content && JsonSerializer.Deserialize(content, VolumeJson.Default.VolumeState) is { } found
                ? Whole(found) : new VolumeState();
        }
        catch (JsonException damage)
        {
            HostLog.Write($"the records of disks and mounts cannot be read: {damage.Message}");
            return new VolumeState();
        }
    }

    // JSON leaves a missing property null, even where the type is not nullable.
    private static VolumeState Whole(VolumeState found) => new()
    {
        Disks = [.. (found.Disks ?? []).Where(static disk => disk is { VirtualDisk: not null, Number: > 0 })],
        Mounts = [.. (found.Mounts ?? []).Where(static mount => mount is { VirtualDisk: not null, Partition: not null, Path: not null, Letter: not null })],
        Formats = [.. (found.Formats ?? []).Where(static format => format is { VirtualDisk: not null, Partition: not null, Requested: not null })],
        Creations = [.. (found.Creations ?? []).Where(static creation => creation is { VirtualDisk: not null })],
        Offline = [.. (found.Offline ?? []).Where(static offline => offline is { VirtualDisk: not null, Partition: not null })],
    };
}

/// <summary>Serialization of the state, generated at build.</summary>
[JsonSourceGenerationOptions(WriteIndented = true)]
[JsonSerializable(typeof(VolumeState))]
internal sealed partial class VolumeJson : JsonSerializerContext;
