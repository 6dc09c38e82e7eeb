namespace TierSpaces.Contracts;

// People and scripts ask for cmdlets that Windows has. Module and command line answer such a name from this table: why it is not here, and what to use.
// A name leaves the table when its cmdlet comes; a test holds the table against the verbs.

/// <summary>Table of the documented cmdlets of Windows storage that are not in this version.</summary>
public static class AbsentCmdlets
{
    private static readonly Lazy<Dictionary<string, AbsentCmdlet>> s_byName = new(
        static () => Rows().ToDictionary(static row => row.Name, StringComparer.OrdinalIgnoreCase));

    /// <summary>Every row, by name in any case.</summary>
    public static IReadOnlyDictionary<string, AbsentCmdlet> All => s_byName.Value;

    /// <summary>Returns the row of a name in any case, or null.</summary>
    public static AbsentCmdlet? Find(string name) => All.GetValueOrDefault(name);

    private static IEnumerable<AbsentCmdlet> Rows() =>
    [
        .. Group(
            "Masking sets are of storage subsystems that show virtual disks to other machines by initiator and target port.",
            "Use Connect-VirtualDisk, and NBD over a network that you trust.",
            "New-MaskingSet Get-MaskingSet Remove-MaskingSet Rename-MaskingSet Add-InitiatorIdToMaskingSet "
                + "Remove-InitiatorIdFromMaskingSet Add-TargetPortToMaskingSet Remove-TargetPortFromMaskingSet "
                + "Add-VirtualDiskToMaskingSet Remove-VirtualDiskFromMaskingSet Hide-VirtualDisk Show-VirtualDisk"),
        .. Group(
            "Initiators and target ports are of SAN arrays; virtual disks are served by NBD.",
            "Use Get-VirtualDisk, whose NbdUri says where a virtual disk is served.",
            "Get-InitiatorId Remove-InitiatorId Get-InitiatorPort Set-InitiatorPort Get-TargetPort Get-TargetPortal"),
        .. Group(
            "There is no iSCSI target; virtual disks are served by NBD.",
            "Use Connect-VirtualDisk, and targetcli (LIO) of Linux on its block device.",
            "New-IscsiVirtualDisk Get-IscsiVirtualDisk Set-IscsiVirtualDisk Remove-IscsiVirtualDisk Import-IscsiVirtualDisk "
                + "Resize-IscsiVirtualDisk New-IscsiServerTarget Get-IscsiServerTarget Set-IscsiServerTarget Remove-IscsiServerTarget "
                + "Add-IscsiVirtualDiskTargetMapping Remove-IscsiVirtualDiskTargetMapping New-IscsiTargetPortal Connect-IscsiTarget"),
        .. Group(
            "Virtual disks have no snapshots and no clones.",
            "Use snapshots of the file system (btrfs, XFS reflink, LVM) on the virtual disk.",
            "New-VirtualDiskClone New-VirtualDiskSnapshot"),
        .. Group(
            "Blocks are not deduplicated.",
            "Use a file system that does so (btrfs with duperemove, or VDO) on the virtual disk.",
            "Enable-DedupVolume Disable-DedupVolume Get-DedupVolume Set-DedupVolume Get-DedupStatus Start-DedupJob Get-DedupJob "
                + "Stop-DedupJob Get-DedupSchedule New-DedupSchedule Set-DedupSchedule Remove-DedupSchedule Update-DedupStatus "
                + "Measure-DedupFileMetadata Get-DedupMetadata Expand-DedupFile Get-DedupProperties"),
        .. Group(
            "ReFS is a file system of Windows; checksums are kept by the virtual disk itself.",
            "Use New-VirtualDisk -Checksum, and Get-StorageJob for the scrub that verifies them.",
            "Get-FileIntegrity Set-FileIntegrity Repair-FileIntegrity Get-ReFSDedupStatus Enable-ReFSDedup"),
        .. Group(
            "Storage QoS policies are of clusters with Hyper-V.",
            "Use the limits of the hypervisor or io.max of a control group on the block device.",
            "New-StorageQosPolicy Get-StorageQosPolicy Set-StorageQosPolicy Remove-StorageQosPolicy Get-StorageQosFlow "
                + "Get-StorageQosVolume Get-StorageQosPolicyStore Set-StorageQosPolicyStore"),
        .. Group(
            "Virtual disks are not replicated to another machine.",
            "Use DRBD or the replication of the application on the block device.",
            "New-SRPartnership Get-SRPartnership Set-SRPartnership Remove-SRPartnership New-SRGroup Get-SRGroup Set-SRGroup "
                + "Remove-SRGroup Sync-SRGroup Test-SRTopology Grant-SRAccess Revoke-SRAccess Clear-SRMetadata Suspend-SRGroup"),
        .. Group(
            "Pools are of one machine; Storage Spaces Direct is not available.",
            "Use New-StoragePool with the disks of this machine, and StorageScaleUnit, chassis and rack as fault domains.",
            "Enable-ClusterS2D Disable-ClusterS2D Enable-ClusterStorageSpacesDirect Disable-ClusterStorageSpacesDirect "
                + "Get-ClusterS2D Get-ClusterStorageSpacesDirect Set-ClusterStorageSpacesDirect Set-ClusterStorageSpacesDirectDisk "
                + "Set-ClusterS2DDisk Repair-ClusterStorageSpacesDirect Repair-ClusterS2D"),
        .. Group(
            "There are no failover clusters.",
            "Use pools of one machine, or Pacemaker to move all disks of a pool to another one.",
            "Add-ClusterDisk Get-ClusterAvailableDisk Add-ClusterSharedVolume Get-ClusterSharedVolume Get-ClusterSharedVolumeState "
                + "Move-ClusterSharedVolume Remove-ClusterSharedVolume Get-Cluster Get-ClusterResource"),
        .. Group(
            "Fault domains are properties of physical disks here, and there is no cluster.",
            "Use Set-PhysicalDisk -StorageScaleUnitId, -StorageChassisId and -StorageRackId, and Get-StorageFaultDomain.",
            "Get-ClusterFaultDomain New-ClusterFaultDomain Set-ClusterFaultDomain Remove-ClusterFaultDomain "
                + "Get-ClusterFaultDomainXML Set-ClusterFaultDomainXML Add-StorageFaultDomain Remove-StorageFaultDomain"),
        .. Group(
            "Scale units, chassis and racks have no cmdlets of their own here.",
            "Use Get-StorageFaultDomain -Type StorageScaleUnit, StorageChassis or StorageRack.",
            "Get-StorageScaleUnit Get-StorageChassis Get-StorageRack Get-StorageSite"),
        .. Group(
            "The storage bus cache binds fast to slow disks of one server below the pool.",
            "Use New-VirtualDisk -WriteCacheSize for writes and -StorageTiers for hot data.",
            "Enable-StorageBusCache Disable-StorageBusCache Get-StorageBusCache Set-StorageBusCache Update-StorageBusCache "
                + "Get-StorageBusDisk Clear-StorageBusDisk Enable-StorageBusDisk Disable-StorageBusDisk Suspend-StorageBusDisk "
                + "Resume-StorageBusDisk Get-StorageBusBinding New-StorageBusBinding Remove-StorageBusBinding New-StorageBusCacheStore "
                + "Get-StorageBusClientDevice Get-StorageBusTargetCacheStore Get-StorageBusTargetCacheStoresInstance "
                + "Get-StorageBusTargetDevice Get-StorageBusTargetDeviceInstance Set-StorageBusProfile"),
        .. Group(
            "The lights of slots are not switched.",
            "Use ledctl (ledmon) or sg_ses of Linux with the slot that Get-PhysicalDisk shows.",
            "Enable-PhysicalDiskIdentification Disable-PhysicalDiskIdentification Enable-PhysicalDiskIndication "
                + "Disable-PhysicalDiskIndication Enable-StorageEnclosureIdentification Disable-StorageEnclosureIdentification"),
        .. Group(
            "Maintenance mode is of fault domains of clusters.",
            "Use Set-PhysicalDisk -Usage Retired to take a disk out for long; a disk that comes back soon is repaired by itself.",
            "Enable-StorageMaintenanceMode Disable-StorageMaintenanceMode"),
        .. Group(
            "There is no health service; every object says in words what is wrong with it.",
            "Use Get-TierSpacesHost, whose Faults list what is wrong, Get-StoragePool, Get-VirtualDisk and Get-PhysicalDisk, or /metrics of the host.",
            "Debug-StorageSubSystem Get-StorageHealthAction Get-StorageHealthReport Get-StorageHealthSetting "
                + "Set-StorageHealthSetting Remove-StorageHealthSetting Get-StorageExtendedStatus Get-StorageHistory"),
        .. Group(
            "Diagnostic logs of providers do not exist; the host keeps one text log.",
            "Use the log in the folder that Get-TierSpacesHost shows (Home), and 'tierspaces trace' for slow requests.",
            "Start-StorageDiagnosticLog Stop-StorageDiagnosticLog Get-StorageDiagnosticInfo Clear-StorageDiagnosticInfo"),
        .. Group(
            "Firmware of disks is not read beyond its version and not changed.",
            "Use Get-PhysicalDisk (FirmwareVersion), and fwupdmgr or nvme fw-download of Linux.",
            "Get-StorageFirmwareInformation Update-StorageFirmware"),
        .. Group(
            "There are no storage providers beside this one, and its objects are never out of date.",
            "Use Get-StorageSubSystem, and Update-StorageProviderCache to look at the disks again.",
            "Get-StorageProvider Set-StorageProvider Register-StorageSubsystem Unregister-StorageSubsystem"),
        .. Group(
            "The settings of Windows for disks that arrive do not apply here.",
            "Use Set-StoragePool for the defaults of a pool.",
            "Get-StorageSetting Set-StorageSetting"),
        .. Group(
            "The cache of a single disk is not switched.",
            "Use Get-PhysicalDisk (IsWriteCacheEnabled), New-PhysicalDisk -IsWriteCacheEnabled and hdparm of Linux.",
            "Get-StorageAdvancedProperty Set-StorageAdvancedProperty"),
        .. Group(
            "There is one machine, and every physical disk is connected to it.",
            "Use Get-PhysicalDisk and Get-StorageNode.",
            "Get-PhysicalDiskStorageNodeView Get-PhysicalDiskSNV Get-StorageEnclosureStorageNodeView Get-StorageEnclosureSNV "
                + "Get-DiskStorageNodeView Get-DiskSNV"),
        .. Group(
            "Extents are listed by the cmdlet that names both sides.",
            "Use Get-PhysicalExtent.",
            "Get-PhysicalExtentAssociation"),
        .. Group(
            "Image files of Windows (VHD, VHDX, ISO) are not mounted.",
            "Use qemu-nbd or losetup of Linux, or New-PhysicalDisk for image files of a pool.",
            "Mount-DiskImage Dismount-DiskImage Get-DiskImage"),
        .. Group(
            "File servers of storage subsystems do not exist here.",
            "Use Samba or NFS of Linux on a file system of a virtual disk.",
            "Get-FileShare New-FileShare Remove-FileShare Set-FileShare Get-StorageFileServer New-StorageFileServer "
                + "Remove-StorageFileServer Set-StorageFileServer"),
    ];

    private static IEnumerable<AbsentCmdlet> Group(string reason, string remedy, string names) =>
        names.Split(' ').Select(name => new AbsentCmdlet(name, reason, remedy));
}
