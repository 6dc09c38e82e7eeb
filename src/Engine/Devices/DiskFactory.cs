using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Devices.Identity;
using TierSpaces.Engine.Devices.Raw;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

// Everything that touches the file, the device or sysfs runs on a thread; the disk is then built on the lane. Objects here have no state that changes.

/// <summary>Opens the disks of this machine by URI.</summary>
public sealed class DiskFactory : IDiskFactory
{
    private readonly record struct Found(OpenedDevice Device, DiskIdentity Identity, int AtomicSize);

    private readonly BlockDevices _devices;
    private readonly Func<string, string?>? _virtualDiskOn;

    /// <summary>Opens disks of the running system.</summary>
    /// <param name="virtualDiskOn">
    /// Names the virtual disk of this host that a device shows, from the name that the kernel gives the device (<c>loop3</c>, <c>nbd0p1</c>); null: none. It
    /// is called on any thread, and may block. Such a device is refused: it needs the host that would wait for it.
    /// </param>
    public DiskFactory(Func<string, string?>? virtualDiskOn = null)
        : this(new BlockDevices(), virtualDiskOn)
    {
    }

    internal DiskFactory(BlockDevices devices, Func<string, string?>? virtualDiskOn = null) => (_devices, _virtualDiskOn) = (devices, virtualDiskOn);

    /// <inheritdoc/>
    /// <remarks>Called on the lane, which must be a real one.</remarks>
    public LaneTask<IDisk> Open(ILane lane, string uri, DiskOverrides overrides, DiskUse use = DiskUse.ReadWrite) =>
        lane is Lane { IsCurrent: true } real ? OpenOn(real, uri, overrides, use)
            : throw new InvalidOperationException("A disk is opened on the real lane that will use it.");

    /// <inheritdoc/>
    public LaneTask<DeviceNames> NameDevice(ILane lane, string uri)
    {
        string path = DiskUri.Parse(uri).Path;
        return lane.CallBlocking(() => Hardware.OfPath(path, _devices));
    }

    private async LaneTask<IDisk> OpenOn(Lane lane, string uri, DiskOverrides overrides, DiskUse use)
    {
        DiskUri parsed = DiskUri.Parse(uri);
        LatencyProfile? profile = parsed.Kind == DiskKind.Emulated ? FindProfile(uri, parsed.Profile) : null;
        Found found = await lane.CallBlocking(() => parsed.Kind == DiskKind.Block
            ? FindBlock(uri, parsed.Path, overrides, use)
            : FindFile(uri, parsed.Path, profile?.Complete(overrides) ?? overrides, use));
        RawDisk disk = new(lane, found.Device, found.Identity, found.AtomicSize);
        return profile is null ? disk : new EmulatedDisk(lane, disk, profile);
    }

    private static LatencyProfile FindProfile(string uri, string name) => LatencyProfile.Find(name) ?? throw new DiskOpenException(
        DiskOpenFailure.Unsuitable,
        $"'{uri}' names the latency profile '{name}'; there are {string.Join(", ", LatencyProfile.All.Select(p => p.Name))}.");

    private Found FindFile(string uri, string path, DiskOverrides overrides, DiskUse use) =>
        Describe(DeviceOpener.Open(uri, path, wantBlockDevice: false, use), device =>
        {
            DiskIdentity identity = IdentityBuilder.ForFile(uri, device, overrides) with { Hardware = device.Key, Incarnation = IncarnationOfFile(device) };
            return new Found(device, identity, AtomicSizeOfFile(device, identity));
        });

    private Found FindBlock(string uri, string path, DiskOverrides overrides, DiskUse use)
    {
        BlockDeviceFacts facts = Describe(path);
        if (_virtualDiskOn?.Invoke(facts.Name) is { } disk)
        {
            throw new DiskOpenException(
                DiskOpenFailure.Unsuitable,
                $"'{uri}' shows virtual disk '{disk}' of this host, which cannot be a physical disk of it. Name a disk, a partition or an image file.");
        }

        return Describe(OpenExplained(uri, path, facts, use), device =>
        {
            DiskIdentity identity = IdentityBuilder.ForBlock(uri, device, facts, overrides);
            return new Found(device, identity, Math.Max(facts.Identity.PhysicalSectorSize, identity.LogicalSectorSize));
        });
    }

    private static Found Describe(OpenedDevice device, Func<OpenedDevice, Found> describe)
    {
        try
        {
            return describe(device);
        }
        catch
        {
            Libc.Close(device.Descriptor);
            throw;
        }
    }

    private BlockDeviceFacts Describe(string path)
    {
        _ = Libc.StatusOfPath(path, follow: true, out FileStatus status);
        return _devices.Describe(status.DeviceMajor, status.DeviceMinor);
    }

    /// <summary>A device in use is refused with what the system knows of its use.</summary>
    private static OpenedDevice OpenExplained(string uri, string path, BlockDeviceFacts facts, DiskUse use)
    {
        try
        {
            return DeviceOpener.Open(uri, path, wantBlockDevice: true, use);
        }
        catch (DiskOpenException problem) when (problem.Failure == DiskOpenFailure.InUse && facts.Identity.CannotPoolReason.Length > 0)
        {
            throw new DiskOpenException(problem.Failure, $"{problem.Message} ({facts.Identity.CannotPoolReason}.)", problem);
        }
    }

    /// <summary>
    /// A power cut tears a file where it tears the disk below it. Memory has no such unit, and a disk that the system does
    /// not name is trusted for one logical sector only.
    /// </summary>
    private int AtomicSizeOfFile(OpenedDevice device, DiskIdentity identity)
    {
        if (device.Access == DiskAccess.Memory)
        {
            return identity.PhysicalSectorSize;
        }

        (uint major, uint minor) = NumberOf(device);
        int below = _devices.PhysicalSectorBelow(major, minor);
        return Math.Max(identity.LogicalSectorSize, Math.Min(below, identity.PhysicalSectorSize));
    }

    private ulong IncarnationOfFile(OpenedDevice device)
    {
        (uint major, uint minor) = NumberOf(device);
        return device.Access == DiskAccess.Memory ? 0 : _devices.IncarnationBelow(major, minor);
    }

    /// <summary>Number of the device that the file system of a file is on.</summary>
    private static (uint Major, uint Minor) NumberOf(OpenedDevice file)
    {
        string[] parts = file.Key.Split(':');
        return (Number(parts[1]), Number(parts[2]));

        static uint Number(string text) => uint.Parse(text, System.Globalization.CultureInfo.InvariantCulture);
    }
}
