using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Verbs.VirtualDisks;
using TierDescription = TierSpaces.Engine.Formats.TierDescription;
using VirtualDiskDescription = TierSpaces.Engine.Formats.VirtualDiskDescription;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>A virtual disk of the engine as the object users see.</summary>
internal static class VirtualDiskMapping
{
    /// <summary>Maps one.</summary>
    /// <param name="disk">The virtual disk.</param>
    /// <param name="slabBytes">Slab size of its pool.</param>
    /// <param name="attached">Method and device by which it is attached; null while it is not.</param>
    /// <param name="listenUri">URI at which it is served over TCP; null: at none.</param>
    public static VirtualDiskInfo ToInfo(this VirtualDiskStatus disk, long slabBytes, AttachOutcome? attached, string? listenUri)
    {
        VirtualDiskDescription description = disk.Description;
        string uniqueId = Identifiers.OfVirtualDisk(description.Id.Value);
        bool isConnected = disk.SocketPath.Length > 0;
        return new VirtualDiskInfo
        {
            FriendlyName = description.FriendlyName,
            Name = description.FriendlyName,
            UniqueId = uniqueId,
            ObjectId = Identifiers.ObjectId("MSFT_VirtualDisk", uniqueId),
            UniqueIdFormat = DisplayName.Of(UniqueIdFormat.VendorSpecific),
            Usage = DisplayName.Of((VirtualDiskUsage)description.Usage),
            OtherUsageDescription = description.OtherUsageDescription,
            HealthStatus = DisplayName.Of((HealthStatus)disk.Health),
            OperationalStatus = [disk.OperationalStatus],
            OtherOperationalStatusDescription = disk.StatusReason.Length > 0 ? disk.StatusReason : null,
            ResiliencySettingName = description.ResiliencySettingName,
            Size = (ulong)description.SizeBytes,
            AllocatedSize = (ulong)disk.AllocatedBytes,
            FootprintOnPool = (ulong)disk.FootprintBytes,
            LogicalSectorSize = description.LogicalSectorSize,
            PhysicalSectorSize = description.PhysicalSectorSize,
            ProvisioningType = DisplayName.Of((ProvisioningType)description.ProvisioningType),
            NumberOfDataCopies = Common(description, static part => part.NumberOfDataCopies),
            PhysicalDiskRedundancy = description.Parts.Min(static part => part.PhysicalDiskRedundancy),
            NumberOfColumns = Common(description, static part => part.NumberOfColumns),
            NumberOfGroups = 1,
            Interleave = Common(description, static part => part.Interleave),
            ParityLayout = description.Parts.Any(static part => part.Parities > 0) ? DisplayName.Of(ParityLayout.RotatedParity) : null,
            RequestNoSinglePointOfFailure = description.Parts.All(static part => part.RingCopies > 1),
            Access = DisplayName.Of(description.IsReadOnly ? Access.Readable : Access.ReadWrite),
            IsSnapshot = false,
            IsManualAttach = description.IsManualAttach,
            IsDeduplicationEnabled = false,
            IsEnclosureAware = description.FaultDomainAwareness == Engine.Formats.FaultDomainLevel.StorageEnclosure,
            IsTiered = description.IsTiered,
            DetachedReason = disk.DetachedReason.Length > 0 ? disk.DetachedReason : DisplayName.Of(DetachedReason.None),
            WriteCacheSize = (ulong)description.WriteCacheSize,
            ReadCacheSize = 0,
            AllocationUnitSize = (ulong)slabBytes,
            FaultDomainAwareness = DisplayName.Of((FaultDomainType)description.FaultDomainAwareness),
            ColumnIsolation = DisplayName.Of((FaultDomainType)description.ColumnIsolation),
            MediaType = DisplayName.Of(Engine.Pools.MediaCode.Of(description.MediaTypeCode).ToContract()),
            StoragePoolUniqueId = Identifiers.OfPoolOrDisk(disk.PoolId),
            Checksum = description.Checksum.ToString(),
            SliceSize = description.IsTiered ? description.SliceSize : null,
            MinimumHeat = description.IsTiered ? (uint)description.TierSettings.MinimumHeat : null,
            DemoteColdAfter = description.IsTiered ? (uint)(description.TierSettings.DemoteColdAfterNs / TierSettingParameters.NsPerHour) : null,
            HeatHalfLife = description.IsTiered ? (uint)(description.TierSettings.HalfLifeNs / TierSettingParameters.NsPerHour) : null,
            NbdUri = isConnected ? NbdUri(description.FriendlyName, disk.SocketPath) : null,
            ListenUri = isConnected ? listenUri : null,
            DevicePath = isConnected ? attached?.DevicePath : null,
            AttachMethod = isConnected ? attached?.Method : null,
            AttachReason = isConnected ? attached?.Reason : null,
            Lane = disk.Lane,
            ReadModifyWrites = (ulong)(disk.Counters?.ReadModifyWrites ?? 0),
            BlocksTakenWithoutProof = (ulong)disk.BlocksTakenWithoutProof,
        };
    }

    // The value that all tiers share; null where they differ. A disk without tiers is one part.
    private static T? Common<T>(VirtualDiskDescription disk, Func<TierDescription, T> value)
        where T : struct =>
        disk.Parts.Select(value).Distinct().ToArray() is [var one] ? one : null;

    /// <summary>Returns the URI at which NBD clients find the export.</summary>
    public static string NbdUri(string exportName, string socket) =>
        $"nbd+unix:///{Uri.EscapeDataString(exportName)}?socket={Uri.EscapeDataString(socket).Replace("%2F", "/")}";
}
