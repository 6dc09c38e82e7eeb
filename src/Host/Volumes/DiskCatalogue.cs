using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Verbs;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Volumes;

/// <summary>
/// Disks of this host: connected virtual disks with a block device that is still theirs, and nothing else. No other device of the machine is listed, read
/// or changed.
/// </summary>
internal sealed class DiskCatalogue
{
    private readonly DiskReader _reader;

    private DiskCatalogue(Catalogue all, DiskReader reader, List<VolumeDisk> disks, List<(VirtualDiskStatus Disk, string Reason)> without) =>
        (All, _reader, Disks, WithoutDevice) = (all, reader, disks, without);

    /// <summary>Pools, virtual disks and jobs of the same moment.</summary>
    public Catalogue All { get; }

    /// <summary>Disks by number. Their contents are read by <see cref="ReadAsync(IEnumerable{VolumeDisk})"/>.</summary>
    public IReadOnlyList<VolumeDisk> Disks { get; }

    /// <summary>Connected virtual disks without a block device, with the reason.</summary>
    public IReadOnlyList<(VirtualDiskStatus Disk, string Reason)> WithoutDevice { get; }

    /// <summary>Lists the disks. Reads none of them.</summary>
    public static DiskCatalogue Of(Catalogue all, AttachManager attachments, VolumeStore store, DiskReader reader)
    {
        List<VolumeDisk> disks = [];
        List<(VirtualDiskStatus Disk, string Reason)> without = [];
        foreach (VirtualDiskStatus disk in all.VirtualDisks.All.Where(static disk => disk.SocketPath.Length > 0))
        {
            string id = Identifiers.OfVirtualDisk(disk.Description.Id.Value);
            AttachOutcome? outcome = attachments.OutcomeOf(id);
            if (outcome?.DevicePath is { } path && attachments.IntactRecordOf(id) is { } record)
            {
                disks.Add(new VolumeDisk
                {
                    Status = disk, Entry = store.EntryOf(id), Device = record.Device, Path = path,
                    Size = DiskReader.SizeOf(record.Device) ?? disk.Description.SizeBytes,
                });
            }
            else
            {
                without.Add((disk, outcome?.Reason ?? "Its block device is gone."));
            }
        }

        return new DiskCatalogue(all, reader, [.. disks.OrderBy(static disk => disk.Number)], without);
    }

    /// <summary>Reads the contents of disks, all of them side by side.</summary>
    public async Task<VolumeDisk[]> ReadAsync(IEnumerable<VolumeDisk> disks) => await Task.WhenAll(disks.Select(ReadAsync)).ConfigureAwait(false);

    /// <summary>Reads the contents of one disk.</summary>
    public async Task<VolumeDisk> ReadAsync(VolumeDisk disk) =>
        disk with { Contents = await _reader.ReadAsync(disk.Device, disk.Size, disk.SectorSize).ConfigureAwait(false) };

    /// <summary>The disk of a virtual disk.</summary>
    /// <exception cref="StorageException">The virtual disk is not connected or has no block device; the error says what works.</exception>
    public VolumeDisk Of(VirtualDiskStatus disk)
    {
        string id = Identifiers.OfVirtualDisk(disk.Description.Id.Value);
        string name = disk.Description.FriendlyName;
        if (Disks.FirstOrDefault(one => one.UniqueId == id) is { } found)
        {
            return found;
        }

        (VirtualDiskStatus? connected, string reason) = WithoutDevice.FirstOrDefault(one => one.Disk.Description.Id == disk.Description.Id);
        throw connected is null
            ? new StorageException(
                StorageErrors.NotConnected, $"Virtual disk '{name}' is not connected, so it has no disk.", $"Connect it: Connect-VirtualDisk '{name}'.", name)
            : new StorageException(
                StorageErrors.NoBlockDevice, $"Virtual disk '{name}' has no block device: {reason}",
                $"Its data can be used at {VirtualDiskMapping.NbdUri(name, disk.SocketPath)}.", name);
    }
}
