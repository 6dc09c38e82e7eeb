using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>
/// Selects disks, partitions and volumes by what verbs name them by, in one place. A number, letter or path that fits nothing is an error; a wildcard that
/// fits nothing is not.
/// </summary>
/// <param name="services">The host.</param>
/// <param name="catalogue">Its disks.</param>
/// <param name="fail">Takes the error of each name that fits nothing.</param>
internal sealed class VolumeSelection(HostServices services, DiskCatalogue catalogue, Action<StorageErrorInfo> fail)
{
    private VolumeDisk[]? _read;

    /// <summary>The disks.</summary>
    public DiskCatalogue Catalogue => catalogue;

    /// <summary>Lists the disks of a host.</summary>
    public static async Task<VolumeSelection> ReadAsync(HostServices services, Action<StorageErrorInfo> fail) =>
        new(services, await services.Volumes.CatalogueAsync(services).ConfigureAwait(false), fail);

    /// <summary>The volume or partition that a reference means: a unique identifier or an object identifier.</summary>
    /// <exception cref="StorageException">There is none.</exception>
    public static async Task<VolumeTarget> OneVolumeAsync(HostServices services, Catalogue all, string reference)
    {
        VolumeSelection selection = new VolumeSelection(services, services.Volumes.Of(all), static error => throw new StorageException(error));
        return selection.ById(await selection.AllTargetsAsync().ConfigureAwait(false), [reference], "MSFT_Volume").FirstOrDefault()
            ?? throw StorageException.NotFound("MSFT_Volume", "UniqueId", reference);
    }

    /// <summary>Every disk with its contents.</summary>
    public async Task<VolumeDisk[]> AllDisksAsync() => _read ??= await catalogue.ReadAsync(catalogue.Disks).ConfigureAwait(false);

    /// <summary>Warns of the disks that could not be read: what is on them is not listed.</summary>
    public async Task WarnOfUnreadAsync(string what, Action<string> warn)
    {
        foreach (VolumeDisk disk in (await AllDisksAsync().ConfigureAwait(false)).Where(static disk => disk.Contents.Fault is not null))
        {
            warn($"{what} of disk {disk.Number} ('{disk.FriendlyName}') are not known: {disk.Contents.Fault}");
        }
    }

    /// <summary>Every partition.</summary>
    public async Task<List<VolumeTarget>> AllPartitionsAsync() =>
        [.. (await AllDisksAsync().ConfigureAwait(false)).SelectMany(static disk => disk.Contents.Partitions.Select(partition => new VolumeTarget(disk,
            partition)))];

    /// <summary>Every partition and every volume, each once.</summary>
    public async Task<List<VolumeTarget>> AllTargetsAsync() =>
        [.. (await AllPartitionsAsync().ConfigureAwait(false)).Union(await AllVolumesAsync().ConfigureAwait(false))];

    /// <summary>Every volume.</summary>
    public async Task<List<VolumeTarget>> AllVolumesAsync() => [.. (await AllDisksAsync().ConfigureAwait(false)).SelectMany(static disk => disk.Volumes)];

    /// <summary>Disks by whichever selector was given, without their contents; every disk when none was.</summary>
    public List<VolumeDisk> Disks(uint[]? numbers, string[]? uniqueIds, string[]? names, string[]? paths, string[]? references)
    {
        return numbers is not null ? ByNumber("MSFT_Disk", "Number", numbers)
            : paths is not null ? ByPath(paths)
            : Named("MSFT_Disk").Select(names, uniqueIds, null, references, fail);
    }

    /// <summary>Disks by serial number; every disk when none was given.</summary>
    public List<VolumeDisk> BySerialNumber(IEnumerable<VolumeDisk> among, string[]? serials) => serials is null
        ? [.. among]
        : new Selector<VolumeDisk>("MSFT_Disk", [.. among], static disk => disk.UniqueId, static disk => disk.FriendlyName)
            .By("SerialNumber", static disk => disk.UniqueId, serials, fail);

    /// <summary>The disk of a virtual disk.</summary>
    /// <exception cref="StorageException">There is no such virtual disk, or it has no disk; the error says why.</exception>
    public VolumeDisk OfVirtualDisk(string reference) => catalogue.Of(catalogue.All.VirtualDisks.One(reference));

    /// <summary>The disks of a storage job's virtual disk.</summary>
    public List<VolumeDisk> OfJob(string reference)
    {
        JobStatus job = catalogue.All.Jobs.One(reference);
        return [.. catalogue.Disks.Where(disk => disk.Status.Description.Id.Value == job.VirtualDisk)];
    }

    /// <summary>Disks by their identifier in any of its forms: unique identifier, object identifier or path.</summary>
    public List<VolumeDisk> ByDiskId(IEnumerable<string> ids)
    {
        List<VolumeDisk> found = [];
        foreach (string id in ids)
        {
            VolumeDisk? one = catalogue.Disks.FirstOrDefault(disk => Is(disk.UniqueId, id) || Is(Identifiers.ObjectId("MSFT_Disk", disk.UniqueId), id)
                || IsAt(disk, id));
            if (one is null)
            {
                fail(StorageException.NotFound("MSFT_Disk", "DiskId", id).Error);
            }
            else if (!found.Contains(one))
            {
                found.Add(one);
            }
        }

        return found;
    }

    /// <summary>Partitions by disk and number; every one of the disks when no number was given.</summary>
    public async Task<List<VolumeTarget>> PartitionsAsync(uint[]? diskNumbers, uint[]? numbers)
    {
        IEnumerable<VolumeDisk> chosen = diskNumbers is null ? catalogue.Disks : ByNumber("MSFT_Partition", "DiskNumber", diskNumbers);
        VolumeDisk[] disks = await catalogue.ReadAsync(chosen).ConfigureAwait(false);
        List<VolumeTarget> all = PartitionsOf(disks);
        if (numbers is null)
        {
            return all;
        }

        List<VolumeTarget> found = [.. all.Where(target => numbers.Contains((uint)target.Partition!.Number))];
        foreach (uint number in numbers.Where(number => disks.Length > 0 && found.All(target => target.Partition!.Number != number)))
        {
            fail(StorageException.NotFound("MSFT_Partition", "PartitionNumber", Text(number)).Error);
        }

        return found;
    }

    /// <summary>Partitions by disk and offset; every one of the disks when no offset was given.</summary>
    public async Task<List<VolumeTarget>> PartitionsAtAsync(string[] diskIds, ulong[]? offsets)
    {
        VolumeDisk[] disks = await catalogue.ReadAsync(ByDiskId(diskIds)).ConfigureAwait(false);
        List<VolumeTarget> all = PartitionsOf(disks);
        if (offsets is null)
        {
            return all;
        }

        List<VolumeTarget> found = [.. all.Where(target => offsets.Contains((ulong)target.Partition!.Offset))];
        foreach (ulong offset in offsets.Where(offset => disks.Length > 0 && found.All(target => (ulong)target.Partition!.Offset != offset)))
        {
            fail(StorageException.NotFound("MSFT_Partition", "Offset", offset.ToString(CultureInfo.InvariantCulture)).Error);
        }

        return found;
    }

    /// <summary>Partitions of disks.</summary>
    public static List<VolumeTarget> PartitionsOf(IEnumerable<VolumeDisk> disks) =>
        [.. disks.SelectMany(static disk => disk.Contents.Partitions.Select(partition => new VolumeTarget(disk, partition)))];

    /// <summary>Partitions or volumes by drive letter.</summary>
    public List<VolumeTarget> ByLetter(IReadOnlyCollection<VolumeTarget> among, string[] letters, string windowsClass)
    {
        List<VolumeTarget> found = [];
        foreach (string text in letters)
        {
            string letter = DriveLetter.Parse(text, "DriveLetter");
            VolumeTarget? one = among.FirstOrDefault(target => services.Volumes.Mounts.LetterOf(target) == letter);
            if (one is null)
            {
                fail(StorageException.NotFound(windowsClass, "DriveLetter", letter).Error);
            }
            else if (!found.Contains(one))
            {
                found.Add(one);
            }
        }

        return found;
    }

    /// <summary>Partitions or volumes by unique identifier or object identifier, wildcards accepted.</summary>
    public List<VolumeTarget> ById(IReadOnlyCollection<VolumeTarget> among, IEnumerable<string> ids, string windowsClass, string property = "UniqueId") =>
        new Selector<VolumeTarget>(windowsClass, among, static target => target.UniqueId, static target => target.UniqueId)
            .By(property, static target => target.UniqueId, ids.Select(static id => id.Split("UniqueId=")[^1]), fail);

    /// <summary>Volumes by whichever selector was given; every volume when none was.</summary>
    public async Task<List<VolumeTarget>> VolumesAsync(
        string[]? letters, string[]? objectIds, string[]? paths, string[]? labels, string[]? references, string? partition = null)
    {
        List<VolumeTarget> all = await AllVolumesAsync().ConfigureAwait(false);
        return letters is not null ? ByLetter(all, letters, "MSFT_Volume")
            : objectIds is not null ? ById(all, objectIds, "MSFT_Volume", "ObjectId")
            : references is not null ? ById(all, references, "MSFT_Volume")
            : partition is not null ? ById(all, [partition], "MSFT_Volume")
            : labels is not null ? ByLabel(all, labels)
            : paths is not null ? await ByPathAsync(all, paths).ConfigureAwait(false)
            : all;
    }

    private static List<VolumeTarget> Distinct(IEnumerable<VolumeTarget> targets) => [.. targets.Distinct()];

    private static string Text(uint number) => number.ToString(CultureInfo.InvariantCulture);

    private static bool Is(string one, string other) => one.Equals(other, StringComparison.OrdinalIgnoreCase);

    private static bool IsAt(VolumeDisk disk, string path) => disk.Device == path || disk.Path == path;

    private List<VolumeTarget> ByLabel(IReadOnlyCollection<VolumeTarget> all, string[] labels) =>
        new Selector<VolumeTarget>("MSFT_Volume", all, static target => target.UniqueId, static target => target.FileSystem?.Label ?? "")
            .By("FileSystemLabel", static target => target.FileSystem?.Label ?? "", labels, fail);

    /// <summary>By mount point, recorded access path, device, or any path on a volume.</summary>
    private async Task<List<VolumeTarget>> ByPathAsync(List<VolumeTarget> all, string[] paths)
    {
        List<VolumeTarget> found = [];
        foreach (string path in paths)
        {
            VolumeTarget? one = all.FirstOrDefault(target => target.Node == path || (target.Partition is null && IsAt(target.Disk, path))
                || services.Volumes.Mounts.EntriesOf(target).Any(entry => entry.Path == path));
            try
            {
                found.Add(one ?? await OfPathAsync(all, path, "Path").ConfigureAwait(false));
            }
            catch (StorageException e)
            {
                fail(e.Error);
            }
        }

        return Distinct(found);
    }

    /// <summary>The volume that a path is on.</summary>
    /// <exception cref="StorageException">It is on none of ours.</exception>
    public async Task<VolumeTarget> OfPathAsync(IReadOnlyCollection<VolumeTarget> all, string path, string parameter)
    {
        string mountPoint = await BlockingWork.RunAsync(() => MountTable.PointOf(path), $"-{parameter} '{path}'").ConfigureAwait(false)
            ?? throw StorageException.NotFound("MSFT_Volume", parameter, path);
        List<Mount> mounts = MountTable.Read();
        return all.FirstOrDefault(target => MountTable.Of(mounts, target.Node).Any(mount => mount.Path == mountPoint))
            ?? throw StorageException.NotFound("MSFT_Volume", parameter, path);
    }

    private List<VolumeDisk> ByPath(string[] paths)
    {
        List<VolumeDisk> found = [];
        foreach (string path in paths)
        {
            WildcardPattern pattern = new WildcardPattern(path);
            VolumeDisk[] fitting = [.. catalogue.Disks.Where(disk => IsAt(disk, path) || pattern.Fits(disk.Path) || pattern.Fits(disk.Device))];
            if (fitting.Length == 0 && !pattern.HasWildcards)
            {
                fail(StorageException.NotFound("MSFT_Disk", "Path", path).Error);
            }

            found.AddRange(fitting.Except(found));
        }

        return found;
    }

    // Errors name the class of the object that a verb is for, and its property.
    private List<VolumeDisk> ByNumber(string windowsClass, string property, uint[] numbers) =>
        Named(windowsClass).By(property, static disk => Text((uint)disk.Number), numbers.Select(Text), fail);

    private Selector<VolumeDisk> Named(string windowsClass) =>
        new(windowsClass, catalogue.Disks, static disk => disk.UniqueId, static disk => disk.FriendlyName);
}
