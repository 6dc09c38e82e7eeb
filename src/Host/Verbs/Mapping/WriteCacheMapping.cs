using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>The write cache of a virtual disk of the engine as the object users see.</summary>
internal static class WriteCacheMapping
{
    /// <summary>Maps one; that of a disk without a cache has its settings, and where its requests went.</summary>
    public static VirtualDiskWriteCacheInfo ToWriteCacheInfo(this VirtualDiskStatus disk)
    {
        VirtualDiskDescription description = disk.Description;
        WriteCacheStatus cache = disk.WriteCache ?? new WriteCacheStatus { State = description.WriteCacheSize > 0 ? "Closed" : "None" };
        IoRoutes routes = disk.Routes ?? new IoRoutes();
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
            CacheWrites = (ulong)routes.Cached.Writes,
            CacheBytes = (ulong)routes.Cached.Bytes,
            SsdAllocatedWrites = (ulong)routes.SsdAllocated.Writes,
            SsdAllocatedBytes = (ulong)routes.SsdAllocated.Bytes,
            SsdResidentWrites = (ulong)routes.SsdResident.Writes,
            SsdResidentBytes = (ulong)routes.SsdResident.Bytes,
            BypassLargeWrites = (ulong)routes.BypassLarge.Writes,
            BypassLargeBytes = (ulong)routes.BypassLarge.Bytes,
            BypassFullWrites = (ulong)routes.BypassFull.Writes,
            BypassFullBytes = (ulong)routes.BypassFull.Bytes,
            WriteThroughWrites = (ulong)routes.WriteThrough.Writes,
            WriteThroughBytes = (ulong)routes.WriteThrough.Bytes,
            SlowWrites = (ulong)routes.Slow.Writes,
            SlowBytes = (ulong)routes.Slow.Bytes,
            SsdReadBytes = (ulong)routes.SsdReadBytes,
            SlowReadBytes = (ulong)routes.SlowReadBytes,
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
