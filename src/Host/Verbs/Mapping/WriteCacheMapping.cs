using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>The write cache of a virtual disk of the engine as the object users see.</summary>
internal static class WriteCacheMapping
{
    /// <summary>Maps one; that of a disk without a cache has only its settings.</summary>
    public static VirtualDiskWriteCacheInfo ToWriteCacheInfo(this VirtualDiskStatus disk)
    {
        VirtualDiskDescription description = disk.Description;
        WriteCacheStatus cache = disk.WriteCache ?? new WriteCacheStatus { State = description.WriteCacheSize > 0 ? "Closed" : "None" };
        return new VirtualDiskWriteCacheInfo
        {
            FriendlyName = description.FriendlyName,
            UniqueId = Identifiers.OfVirtualDisk(description.Id.Value),
            CachePool = disk.CachePoolName.Length > 0 ? disk.CachePoolName : null,
            Size = (ulong)description.WriteCacheSize,
            DirtyBytes = (ulong)cache.DirtyBytes,
            AvailableBytes = (ulong)cache.AvailableBytes,
            DestagedBytes = (ulong)cache.DestagedBytes,
            Evictions = (ulong)cache.Evictions,
            EvictedBytes = (ulong)cache.EvictedBytes,
            HitBytes = (ulong)cache.HitBytes,
            MissBytes = (ulong)cache.MissBytes,
            CacheWrites = (ulong)cache.Cached.Writes,
            CacheBytes = (ulong)cache.Cached.Bytes,
            SsdAllocatedWrites = (ulong)cache.SsdAllocated.Writes,
            SsdAllocatedBytes = (ulong)cache.SsdAllocated.Bytes,
            SsdResidentWrites = (ulong)cache.SsdResident.Writes,
            SsdResidentBytes = (ulong)cache.SsdResident.Bytes,
            BypassLargeWrites = (ulong)cache.BypassLarge.Writes,
            BypassLargeBytes = (ulong)cache.BypassLarge.Bytes,
            BypassFullWrites = (ulong)cache.BypassFull.Writes,
            BypassFullBytes = (ulong)cache.BypassFull.Bytes,
            WriteThroughWrites = (ulong)cache.WriteThrough.Writes,
            WriteThroughBytes = (ulong)cache.WriteThrough.Bytes,
            WaitOverlaps = (ulong)cache.WaitOverlaps,
            LostBytes = (ulong)cache.LostBytes,
            ReplayTime = TimeSpan.FromTicks(cache.ReplayNs / 100).ToString(@"hh\:mm\:ss\.fff", CultureInfo.InvariantCulture),
            State = cache.State,
            StateReason = cache.StateReason.Length > 0 ? cache.StateReason : null,
            DestageStart = (ushort)description.Destage.StartPercent,
            DestageStop = (ushort)description.Destage.StopPercent,
            DestageIdle = (uint)(description.Destage.IdleNs / DestageParameters.NsPerSecond),
            DestageBytesPerSecond = (ulong)description.Destage.BytesPerSecond,
            DestageHold = description.Destage.Hold,
            DestageHoldUntil = DestageParameters.TimeText(description.Destage.HoldUntil),
        };
    }
}
