using System.Globalization;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Verbs of emulated disks: the faults that they show.</summary>
public sealed class EmulatedDiskService
{
    private readonly SubsystemCore _core;
    private readonly Snapshots _snapshots;

    internal EmulatedDiskService(SubsystemCore core, Snapshots snapshots) => (_core, _snapshots) = (core, snapshots);

    /// <summary>Makes an emulated disk fail from now on, in place of what it did wrong before; it forgets that when the host stops.</summary>
    /// <exception cref="ManagementException">The disk is not emulated, or a value is out of range; nothing was changed.</exception>
    public Task<PhysicalDiskStatus> SetFaultAsync(Guid id, EmulatedFault fault) => _snapshots.Change(LaneTask<int> () =>
    {
        RegisteredDisk disk = TakeEmulated(id, fault);
        disk.Device.Show(fault);
        return LaneTask.FromResult(disk.Stored.DeviceId);
    }, static (deviceId, now) => now.PhysicalDisks.First(disk => disk.DeviceId == deviceId));

    /// <summary>Refuses what <see cref="SetFaultAsync"/> would refuse.</summary>
    public Task<bool> CheckSetFaultAsync(Guid id, EmulatedFault fault) => _core.Verbs.Check(() => TakeEmulated(id, fault));

    private RegisteredDisk TakeEmulated(Guid id, EmulatedFault fault)
    {
        RegisteredDisk disk = _core.Disks.Take(id);
        if (DiskUri.Parse(disk.Stored.Uri).Kind != DiskKind.Emulated)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter, $"Physical disk '{_core.Disks.NameOf(disk)}' is not emulated ({disk.Stored.Uri}): it has no faults but its own.",
                "Make one with New-PhysicalDisk -LatencyProfile.");
        }

        CheckFault(fault, disk.Device.Emulated?.Geometry.Length ?? long.MaxValue);
        return disk;
    }

    private static void CheckFault(EmulatedFault fault, long length)
    {
        RequireRange("ReadErrorsPerMillion", fault.ReadErrorsPerMillion, 0, EmulatedFault.Million);
        RequireRange("WriteErrorsPerMillion", fault.WriteErrorsPerMillion, 0, EmulatedFault.Million);
        RequireRange("BitFlipsPerMillion", fault.BitFlipsPerMillion, 0, EmulatedFault.Million);
        RequireRange("SlowFactor", fault.SlowFactor, 1, EmulatedFault.SlowFactorMax);
        RequireRange("ErrorOffset", fault.ErrorOffset, 0, length, ByteText.Exact);
        RequireRange("ErrorLength", fault.ErrorLength, 0, length - fault.ErrorOffset, ByteText.Exact);
    }

    private static void RequireRange(string parameter, long value, long least, long most, Func<long, string>? format = null)
    {
        format ??= static number => number.ToString(CultureInfo.InvariantCulture);
        if (value < least || value > most)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter, $"-{parameter} {format(value)}: out of range. Valid: {format(least)} to {format(most)}.", "Give a value in that range.");
        }
    }
}
