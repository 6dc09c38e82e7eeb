using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Identity;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>Reliability counters of the engine as the object users see.</summary>
internal static class ReliabilityMapping
{
    private const long NsPerMs = 1_000_000;

    /// <summary>Maps those of one disk.</summary>
    public static StorageReliabilityCounterInfo ToInfo(this DiskReliability counted, PhysicalDiskStatus disk)
    {
        string uniqueId = Identifiers.OfPoolOrDisk(disk.UniqueId);
        (byte? temperature, byte? temperatureMax) = disk.Uri.Length > 0 ? DiskSensors.Temperature(DiskUri.Parse(disk.Uri).Path) : (null, null);
        return new StorageReliabilityCounterInfo
        {
            DeviceId = disk.DeviceId < 0 ? "" : disk.DeviceId.ToString(CultureInfo.InvariantCulture),
            UniqueId = uniqueId,
            ObjectId = Identifiers.ObjectId("MSFT_StorageReliabilityCounter", uniqueId),
            Temperature = temperature,
            TemperatureMax = temperatureMax,
            ReadErrorsTotal = (ulong)(counted.ReadErrors + counted.ChecksumMismatches),
            ReadErrorsCorrected = (ulong)counted.BlocksHealed,
            ReadErrorsUncorrected = (ulong)counted.BlocksLost,
            WriteErrorsTotal = (ulong)(counted.WriteErrors + counted.FlushErrors),
            WriteErrorsUncorrected = (ulong)(counted.WriteErrors + counted.FlushErrors),
            ReadLatencyMax = (ulong)(counted.ReadNsMax / NsPerMs),
            WriteLatencyMax = (ulong)(counted.WriteNsMax / NsPerMs),
            FlushLatencyMax = (ulong)(counted.FlushNsMax / NsPerMs),
            ChecksumMismatches = (ulong)counted.ChecksumMismatches,
        };
    }
}
