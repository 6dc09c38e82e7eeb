using TierSpaces.Engine.Devices.Raw;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Identity;

/// <summary>Joins what a disk is by nature with what the user says it is.</summary>
internal static class IdentityBuilder
{
    /// <summary>Returns the properties of an image file: a 512e disk of unspecified medium, unless the user overrides them.</summary>
    internal static DiskIdentity ForFile(string uri, OpenedDevice device, DiskOverrides overrides) => Apply(
        new DiskIdentity(
            uri, device.Key, device.SizeBytes, 512, 4096, MediaType.Unspecified, BusType.FileBackedVirtual,
            BlockDeviceFacts.UnknownSpindleSpeed, true, "", "Image file", "TierSpaces", "", ""),
        overrides,
        sectorMin: 512);

    /// <summary>Returns the properties of a block device.</summary>
    internal static DiskIdentity ForBlock(string uri, OpenedDevice device, BlockDeviceFacts facts, DiskOverrides overrides) => Apply(
        facts.Identity with { Uri = uri, DeviceKey = device.Key, SizeBytes = device.SizeBytes, Hardware = Hardware.OfBlock(device.Descriptor, facts) },
        overrides,
        sectorMin: facts.Identity.LogicalSectorSize);

    /// <summary>Applies what the user says.</summary>
    /// <exception cref="DiskOpenException">A sector size is none, or smaller than the device has.</exception>
    internal static DiskIdentity Apply(DiskIdentity identity, DiskOverrides overrides, int sectorMin)
    {
        int logical = overrides.LogicalSectorSize ?? identity.LogicalSectorSize;
        int physical = overrides.PhysicalSectorSize ?? Math.Max(identity.PhysicalSectorSize, logical);
        RequireSectors(identity, logical, physical, sectorMin);
        MediaType media = overrides.MediaType ?? identity.MediaType;
        bool sameMedium = media == identity.MediaType;
        uint natural = media is MediaType.SSD or MediaType.SCM ? 0 : BlockDeviceFacts.UnknownSpindleSpeed;
        return identity with
        {
            LogicalSectorSize = logical,
            PhysicalSectorSize = physical,
            MediaType = media,
            BusType = overrides.BusType ?? identity.BusType,
            SpindleSpeed = overrides.SpindleSpeed ?? (sameMedium ? identity.SpindleSpeed : natural),
            IsWriteCacheEnabled = overrides.IsWriteCacheEnabled ?? identity.IsWriteCacheEnabled,
        };
    }

    private static void RequireSectors(DiskIdentity identity, int logical, int physical, int sectorMin)
    {
        if (logical is not (512 or 4096) || physical is not (512 or 4096) || physical < logical || logical < sectorMin)
        {
            throw new DiskOpenException(
                DiskOpenFailure.Unsuitable,
                $"'{identity.Uri}' cannot have LogicalSectorSize {logical} and PhysicalSectorSize {physical}: "
                + $"each is 512 or 4096, the physical not below the logical, the logical at least {sectorMin} here.");
        }

        if (identity.SizeBytes == 0 || identity.SizeBytes % logical != 0)
        {
            throw new DiskOpenException(
                DiskOpenFailure.Unsuitable,
                $"'{identity.Uri}' holds {ByteText.Exact(identity.SizeBytes)}, which is not a positive multiple of its sector of {logical} bytes.");
        }
    }
}
