using System.Collections.Concurrent;
using TierSpaces.Contracts;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Volumes.FileSystems;

namespace TierSpaces.Host.Volumes;

/// <summary>
/// Mounts volumes at drive letters and paths. Crash order of a mount: (1) the record is saved; (2) the file system is mounted. Of an unmount: (1) it is
/// unmounted; (2) the record is removed. So a host that dies in between leaves a record of a mount that is wanted, and the next host makes it. Every call
/// that may wait for a disk has a time limit and runs beside the lanes.
/// </summary>
/// <param name="store">Records.</param>
/// <param name="tools">Programs.</param>
/// <param name="root">Folder of drive letters and labels.</param>
internal sealed class MountService(VolumeStore store, VolumeTools tools, string root)
{
    /// <summary>Environment variable with the folder of drive letters and labels.</summary>
    public const string RootVariable = "TIERSPACES_VOLUME_ROOT";

    /// <summary>Folder of drive letters and labels where the variable names none.</summary>
    public const string DefaultRoot = "/mnt/tierspaces";

    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(1);
    private readonly ConcurrentDictionary<(string Disk, string Partition, string Path), string> _failures = new();

    /// <summary>Recorded mounts of a volume.</summary>
    public MountEntry[] EntriesOf(VolumeTarget target) => EntriesOf(target.Disk.UniqueId, target.Key);

    /// <summary>Drive letter of a volume; null for none.</summary>
    public string? LetterOf(VolumeTarget target) => EntriesOf(target).FirstOrDefault(static entry => entry.Letter.Length > 0)?.Letter;

    /// <summary>Letters that volumes have, connected or not.</summary>
    public IEnumerable<string> UsedLetters => store.Read().Mounts.Select(static mount => mount.Letter).Where(static letter => letter.Length > 0);

    /// <summary>Mount points of a volume now.</summary>
    public static List<Mount> MountsOf(VolumeTarget target) => MountTable.Of(MountTable.Read(), target.Node);

    /// <summary>Whether a volume, or its disk, is offline: its access paths are kept, and it is not mounted.</summary>
    public bool IsOffline(VolumeTarget target) => target.Disk.Entry.IsOffline || store.IsOffline(target.Disk.UniqueId, target.Key);

    /// <summary>Folder of a letter or a label.</summary>
    public string FolderOf(string name) => Path.Combine(root, DeviceLinks.Encode(name));

    /// <summary>
    /// Reasons why recorded mounts of a volume are not there, each with the command to run; empty while all are, and for a volume that is not formatted.
    /// </summary>
    public List<string> FaultsOf(VolumeTarget target, IEnumerable<Mount> mounts)
    {
        if (target.FileSystem is null || IsOffline(target))
        {
            return [];
        }

        HashSet<string> there = [.. MountTable.Of(mounts, target.Node).Select(static mount => mount.Path)];
        return [.. EntriesOf(target).Where(entry => !there.Contains(entry.Path)).Select(entry =>
            $"Not mounted at {entry.Path}: {_failures.GetValueOrDefault((entry.VirtualDisk, entry.Partition, entry.Path), "it was unmounted by other means.")} "
            + $"Run: {Command(target, entry)}.")];
    }

    /// <summary>Recorded mounts, each with the reason for which it failed the last time that it was tried; empty if it did not.</summary>
    public IEnumerable<(MountEntry Mount, string Fault)> Recorded =>
        store.Read().Mounts.Select(entry => (entry, _failures.GetValueOrDefault(KeyOf(entry), "")));

    /// <summary>Adds a letter or a path to a volume, and mounts it there if it is formatted.</summary>
    /// <param name="target">The volume.</param>
    /// <param name="letter">Drive letter; null for a path.</param>
    /// <param name="path">Path; null for a letter.</param>
    /// <exception cref="StorageException">The letter or path cannot be used, or mounting failed; nothing was changed.</exception>
    public async Task<MountEntry> AddAsync(VolumeTarget target, string? letter, string? path)
    {
        string place = path ?? FolderOf(letter!);
        MountEntry? known = EntriesOf(target).FirstOrDefault(entry => entry.Path == place);
        MountEntry entry = known ?? await PrepareAsync(target, letter ?? "", place).ConfigureAwait(false);
        try
        {
            await MountAsync(target, entry).ConfigureAwait(false);
            return entry;
        }
        catch (StorageException) when (known is null)
        {
            await DropAsync(entry).ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Checks what <see cref="AddAsync"/> would refuse; changes nothing.</summary>
    public async Task CheckAsync(VolumeTarget target, string? letter, string? path)
    {
        string place = path ?? FolderOf(letter!);
        if (EntriesOf(target).All(entry => entry.Path != place))
        {
            await CheckPlaceAsync(target, letter ?? "", place).ConfigureAwait(false);
        }
    }

    /// <summary>Checks whether a volume that is not there yet could have a letter or a path.</summary>
    /// <exception cref="StorageException">It could not.</exception>
    public Task CheckFreeAsync(string? letter, string? path) => CheckFolderAsync(letter ?? "", path ?? FolderOf(letter!));

    /// <summary>Mounts every recorded mount of a volume that is not there. A failure is remembered as a fault of the volume, and the next has its
    /// turn.</summary>
    public async Task<List<string>> MountAllAsync(VolumeTarget target)
    {
        List<string> failures = [];
        foreach (MountEntry entry in EntriesOf(target))
        {
            try
            {
                await MountAsync(target, entry).ConfigureAwait(false);
            }
            catch (StorageException e)
            {
                failures.Add(e.Error.OneLine);
            }
        }

        return failures;
    }

    /// <summary>Mounts a volume at a recorded place, if it is formatted and not there yet.</summary>
    /// <exception cref="StorageException">It failed; the fault is remembered.</exception>
    public async Task MountAsync(VolumeTarget target, MountEntry entry)
    {
        if (target.FileSystem is not { } found || IsOffline(target) || MountsOf(target).Any(mount => mount.Path == entry.Path))
        {
            return;
        }

        try
        {
            await BlockingWork.RunAsync(() => Directory.CreateDirectory(entry.Path), $"The folder {entry.Path}").ConfigureAwait(false);
            await MountAtAsync(target, found, entry.Path).ConfigureAwait(false);
            _failures.TryRemove(KeyOf(entry), out _);
        }
        catch (StorageException e)
        {
            _failures[KeyOf(entry)] = e.Error.ExtendedInformation.Length > 0 ? e.Error.ExtendedInformation : e.Error.Message;
            HostLog.Write($"{target.Name} is not mounted at {entry.Path}: {e.Error.OneLine}");
            throw;
        }
    }

    /// <summary>Unmounts a volume from a recorded place and forgets the place.</summary>
    /// <exception cref="StorageException">It is in use; nothing was changed.</exception>
    public async Task RemoveAsync(VolumeTarget target, MountEntry entry)
    {
        if (MountsOf(target).Any(mount => mount.Path == entry.Path))
        {
            await UnmountAsync(target, entry.Path).ConfigureAwait(false);
        }

        await DropAsync(entry).ConfigureAwait(false);
    }

    /// <summary>Forgets the mounts of a virtual disk that was removed, and takes away the folders that were made for them.</summary>
    public async Task ForgetAsync(string virtualDisk)
    {
        foreach (MountEntry entry in store.Read().Mounts.Where(mount => mount.VirtualDisk == virtualDisk))
        {
            await DropAsync(entry).ConfigureAwait(false);
        }
    }

    /// <summary>Unmounts a volume everywhere and keeps the records, so that <see cref="MountAllAsync"/> mounts it again.</summary>
    /// <exception cref="StorageException">It is in use, or mounted by others.</exception>
    public async Task UnmountAllAsync(VolumeTarget target)
    {
        HashSet<string> ours = [.. EntriesOf(target).Select(static entry => entry.Path)];
        List<Mount> mounts = MountsOf(target);
        if (mounts.FirstOrDefault(mount => !ours.Contains(mount.Path)) is { } other)
        {
            throw new StorageException(
                StorageErrors.DeviceMounted, $"{target.Name} ({target.Node}) is mounted on {other.Path}, which is no access path of it.",
                $"Unmount it: umount {other.Path}.", target.Node);
        }

        foreach (Mount mount in mounts)
        {
            await UnmountAsync(target, mount.Path).ConfigureAwait(false);
        }
    }

    /// <summary>Carries out work on a mounted volume; one that is not mounted is mounted in a private folder for as long.</summary>
    /// <param name="target">The volume.</param>
    /// <param name="folder">Folder for a private mount.</param>
    /// <param name="work">The work; takes the mount point.</param>
    public async Task<T> WhileMountedAsync<T>(VolumeTarget target, string folder, Func<string, Task<T>> work)
    {
        if (MountsOf(target).FirstOrDefault() is { } mount)
        {
            return await work(mount.Path).ConfigureAwait(false);
        }

        string place = Path.Combine(folder, DeviceLinks.Encode(target.UniqueId));
        Directory.CreateDirectory(place);
        await MountAtAsync(target, target.FileSystem!, place).ConfigureAwait(false);
        try
        {
            return await work(place).ConfigureAwait(false);
        }
        finally
        {
            await UnmountAsync(target, place).ConfigureAwait(false);
            Directory.Delete(place);
        }
    }

    private static (string Disk, string Partition, string Path) KeyOf(MountEntry entry) => (entry.VirtualDisk, entry.Partition, entry.Path);

    private static string Command(VolumeTarget target, MountEntry entry) => target.Partition is { } partition
        ? $"Add-PartitionAccessPath -DiskNumber {target.Disk.Number} -PartitionNumber {partition.Number} -AccessPath '{entry.AccessPath}'"
        : $"mount {target.Node} {entry.Path}";

    private MountEntry[] EntriesOf(string virtualDisk, string partition) =>
        [.. store.Read().Mounts.Where(mount => mount.VirtualDisk == virtualDisk && mount.Partition == partition)];

    private async Task<MountEntry> PrepareAsync(VolumeTarget target, string letter, string place)
    {
        bool isThere = await CheckPlaceAsync(target, letter, place).ConfigureAwait(false);
        MountEntry entry = new MountEntry(target.Disk.UniqueId, target.Key, place, letter, MadeFolder: !isThere);
        store.Change(state => state with { Mounts = [.. state.Mounts, entry] });
        return entry;
    }

    /// <summary>Checks a place; true when its folder is there already.</summary>
    private async Task<bool> CheckPlaceAsync(VolumeTarget target, string letter, string place)
    {
        if (target.Partition?.IsHidden == true)
        {
            throw new StorageException(StorageErrors.HiddenPartition, $"{target.Name} is hidden.", "Set-Partition -IsHidden $false shows it.", target.Name);
        }

        if (letter.Length > 0 && LetterOf(target) is { } present)
        {
            throw new StorageException(
                StorageErrors.SeveralDriveLetters, $"{target.Name} has the drive letter {present} already.",
                $"Change it: Set-Partition -NewDriveLetter {letter}.", letter);
        }

        return await CheckFolderAsync(letter, place).ConfigureAwait(false);
    }

    private async Task<bool> CheckFolderAsync(string letter, string place)
    {
        if (store.Read().Mounts.Any(mount => mount.Path == place) || MountTable.Read().Any(mount => mount.Path == place))
        {
            throw new StorageException(
                StorageErrors.AccessPathInUse, letter.Length > 0 ? $"Drive letter {letter} is that of another volume."
                    : $"-AccessPath '{place}': something is mounted there.",
                "Choose another one, or remove it there: Remove-PartitionAccessPath.", place);
        }

        return await BlockingWork.RunAsync(() => AccessPath.Check(place), $"-AccessPath '{place}'").ConfigureAwait(false);
    }

    private async Task MountAtAsync(VolumeTarget target, FoundFileSystem found, string place)
    {
        FileSystemKind? kind = FileSystemChoice.Find(found.Type);
        string[] words = kind is { MountsOnce: true } && MountsOf(target).FirstOrDefault() is { } other
            ? ["--bind", other.Path, place]
            : ["-t", kind?.MountType ?? found.Type, "-o", target.IsReadOnly ? "ro" : "rw", target.Node, place];
        ToolResult result = await tools.TryAsync("mount", s_limit, CancellationToken.None, "", words).ConfigureAwait(false);
        if (result.ExitCode != 0)
        {
            throw new StorageException(
                StorageErrors.MountFailed, $"{result.Error}{(Environment.IsPrivilegedProcess ? "" : " Mounting needs root.")}",
                $"Check the file system: Repair-Volume -ObjectId '{target.UniqueId}' -OfflineScanAndFix.", place);
        }
    }

    /// <summary>Unmounts a volume from a place. File systems that others have mounted over it stay.</summary>
    private async Task UnmountAsync(VolumeTarget target, string place)
    {
        if (MountTable.Read().LastOrDefault(mount => mount.Path == place) is { } top && MountTable.Of([top], target.Node).Count == 0)
        {
            throw new StorageException(
                StorageErrors.DeviceBusy, $"{place}: something else ({top.Source}, {top.Type}) is mounted over {target.Name}.",
                $"Unmount it first: umount '{place}'.", place);
        }

        ToolResult result = await tools.TryAsync("umount", s_limit, CancellationToken.None, "", place).ConfigureAwait(false);
        if (result.ExitCode != 0)
        {
            throw new StorageException(
                StorageErrors.DeviceBusy, $"{place} cannot be unmounted: {result.Error}", $"End what uses it (fuser -vm '{place}' lists it), then retry.",
                    place);
        }
    }

    private async Task DropAsync(MountEntry entry)
    {
        store.Change(state => state with { Mounts = [.. state.Mounts.Where(mount => KeyOf(mount) != KeyOf(entry))] });
        _failures.TryRemove(KeyOf(entry), out _);
        if (entry.MadeFolder)
        {
            await BlockingWork.RunAsync(() => AccessPath.RemoveEmpty(entry.Path), $"The folder {entry.Path}").ConfigureAwait(false);
        }
    }
}
