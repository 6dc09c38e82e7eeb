using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Devices.Identity;
using TierSpaces.Engine.Devices.Raw;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Devices;

/// <summary>Opens the disks of this machine by URI.</summary>
public sealed class DiskFactory : IDiskFactory
{
    private readonly BlockDevices _devices;

    /// <summary>Opens disks of the running system.</summary>
    public DiskFactory()
        : this(new BlockDevices())
    {
    }

    internal DiskFactory(BlockDevices devices) => _devices = devices;

    /// <inheritdoc/>
    /// <remarks>Called on the lane, which must be a real one.</remarks>
    public IDisk Open(ILane lane, string uri, DiskOverrides overrides, DiskUse use = DiskUse.ReadWrite)
    {
        if (lane is not Lane real || !real.IsCurrent)
        {
            throw new InvalidOperationException("A disk is opened on the real lane that will use it.");
        }

        DiskUri parsed = DiskUri.Parse(uri);
        return parsed.Kind switch
        {
            DiskKind.Block => OpenBlock(real, uri, parsed.Path, overrides, use),
            DiskKind.Emulated => OpenEmulated(real, uri, parsed, overrides, use),
            _ => OpenFile(real, uri, parsed.Path, overrides, use),
        };
    }

    private RawDisk OpenFile(Lane lane, string uri, string path, DiskOverrides overrides, DiskUse use)
    {
        OpenedDevice device = DeviceOpener.Open(uri, path, wantBlockDevice: false, use);
        return Build(lane, device, () =>
        {
            DiskIdentity identity = IdentityBuilder.ForFile(uri, device, overrides);
            return (identity, AtomicSizeOfFile(device, identity));
        });
    }

    private RawDisk OpenBlock(Lane lane, string uri, string path, DiskOverrides overrides, DiskUse use)
    {
        BlockDeviceFacts facts = Describe(path);
        OpenedDevice device = OpenExplained(uri, path, facts, use);
        return Build(lane, device, () =>
        {
            DiskIdentity identity = IdentityBuilder.ForBlock(uri, device, facts, overrides);
            return (identity, Math.Max(facts.PhysicalSectorSize, identity.LogicalSectorSize));
        });
    }

    private EmulatedDisk OpenEmulated(Lane lane, string uri, DiskUri parsed, DiskOverrides overrides, DiskUse use)
    {
        LatencyProfile profile = LatencyProfile.Find(parsed.Profile) ?? throw new DiskOpenException(
            DiskOpenFailure.Unsuitable,
            $"'{uri}' names the latency profile '{parsed.Profile}'; there are {string.Join(", ", LatencyProfile.All.Select(p => p.Name))}.");
        RawDisk inner = OpenFile(lane, uri, parsed.Path, profile.Complete(overrides), use);
        return new EmulatedDisk(lane, inner, profile);
    }

    private static RawDisk Build(Lane lane, OpenedDevice device, Func<(DiskIdentity Identity, int AtomicSize)> describe)
    {
        try
        {
            (DiskIdentity identity, int atomicSize) = describe();
            return new RawDisk(lane, device, identity, atomicSize);
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
        catch (DiskOpenException problem) when (problem.Failure == DiskOpenFailure.InUse && facts.CannotPoolReason.Length > 0)
        {
            throw new DiskOpenException(problem.Failure, $"{problem.Message} ({facts.CannotPoolReason}.)", problem);
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

        string[] parts = device.Key.Split(':');
        int below = _devices.PhysicalSectorBelow(
            uint.Parse(parts[1], System.Globalization.CultureInfo.InvariantCulture),
            uint.Parse(parts[2], System.Globalization.CultureInfo.InvariantCulture));
        return Math.Max(identity.LogicalSectorSize, Math.Min(below, identity.PhysicalSectorSize));
    }
}
