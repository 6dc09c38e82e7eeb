namespace TierSpaces.Contracts;

// One table for people who read and people who ask: docs/features.md is printed from it and Get-StorageFeature answers with it. A test compares the two.

/// <summary>Table of the features of Windows storage.</summary>
public static class StorageFeatures
{
    private const string Here = "Here";
    private const string InPart = "In part";
    private const string NotHere = "Not here";

    /// <summary>The states of a feature.</summary>
    public static IReadOnlyList<string> States { get; } = [Here, InPart, NotHere];

    /// <summary>Every feature: those that are here first.</summary>
    public static IReadOnlyList<StorageFeatureInfo> All { get; } =
    [
        new()
        {
            Name = "Storage pools",
            State = Here,
            Difference = "A pool is of one machine. Its members are block devices or image files; each has a vote, and a witness has one "
                + "if their number is even.",
            Remedy = "New-StoragePool, Add-PhysicalDisk, Get-StoragePool",
        },
        new()
        {
            Name = "Simple spaces",
            State = Here,
            Difference = "Every block has a checksum unless -Checksum None is given, so damage is found and not returned.",
            Remedy = "New-VirtualDisk -ResiliencySettingName Simple",
        },
        new()
        {
            Name = "Mirror spaces",
            State = Here,
            Difference = "Two or three copies. A three-way mirror needs five disks, as on Windows. Damaged copies are healed while they are "
                + "read.",
            Remedy = "New-VirtualDisk -ResiliencySettingName Mirror -NumberOfDataCopies",
        },
        new()
        {
            Name = "Parity spaces",
            State = Here,
            Difference = "A journal of parity closes the write hole, so no write needs a cache for safety. A write of a whole stripe passes the "
                + "journal; smaller ones are gathered to stripes.",
            Remedy = "New-VirtualDisk -ResiliencySettingName Parity",
        },
        new()
        {
            Name = "Dual parity",
            State = Here,
            Difference = "Reed-Solomon over 4 KiB lines of all columns. Local reconstruction codes are not there.",
            Remedy = "New-VirtualDisk -ResiliencySettingName Parity -PhysicalDiskRedundancy 2",
        },
        new()
        {
            Name = "Mirror-accelerated parity",
            State = InPart,
            Difference = "A mirror tier on a faster medium and a parity tier on a slower one. Slices move by heat, not because the mirror is full. Two tiers "
                + "of one medium, as on machines with one kind of disk, are refused with code 5: slices move to faster media, and a move within one gains nothing.",
            Remedy = "New-StorageTier -ResiliencySettingName, New-VirtualDisk -StorageTiers; on one medium New-VirtualDisk -ResiliencySettingName Parity "
                + "-WriteCacheSize, which gathers small writes to stripes",
        },
        new()
        {
            Name = "Thin provisioning",
            State = Here,
            Difference = "A row of slabs is taken with its first write and given back when all of it is unmapped. A full pool answers ENOSPC "
                + "and says so in its status.",
            Remedy = "New-VirtualDisk -ProvisioningType Thin, Set-StoragePool -ThinProvisioningAlertThresholds",
        },
        new()
        {
            Name = "Trim and unmap",
            State = Here,
            Difference = "Unmap of clients frees slabs of thin disks, and within slabs, which a fixed disk keeps, it makes holes in image files and is discarded on devices.",
            Remedy = "Connect-VirtualDisk, fstrim",
        },
        new()
        {
            Name = "Write-back cache",
            State = Here,
            Difference = "A flush is answered when the record is durable in a mirrored ring. The default size is 1 GB, as on Windows, where "
                + "journal disks or flash have room for it; else at most an eighth of the smallest of them, with a warning.",
            Remedy = "New-VirtualDisk -WriteCacheSize, Get-VirtualDiskWriteCache",
        },
        new()
        {
            Name = "Flushes",
            State = Here,
            Difference = "A flush is acknowledged only when all copies, checksums and marks that it needs are on stable media. A disk that lost "
                + "what it had confirmed is recognized when it comes back, and brought up to date.",
            Remedy = "Test-StoragePowerCut, New-PhysicalDisk -IsWriteCacheEnabled",
        },
        new()
        {
            Name = "Storage tiers",
            State = Here,
            Difference = "Any number of tiers, each with a layout of its own. A slice is 1 MiB by default; heat fades with a half-life. Windows "
                + "has two in a virtual disk. Each is of another medium.",
            Remedy = "New-StorageTier, New-VirtualDisk -StorageTiers -StorageTierSizes, Add-StorageTier",
        },
        new()
        {
            Name = "Tier optimization",
            State = Here,
            Difference = "At set times as on Windows, at once by a command, or all the time. The plan and its reasons can be read before.",
            Remedy = "Optimize-StorageTier, Set-StorageTierSchedule, Get-StorageTierExplanation",
        },
        new()
        {
            Name = "Files pinned to tiers",
            State = InPart,
            Difference = "Files on ext4 and XFS of a virtual disk that is connected here, and ranges of any virtual disk with tiers.",
            Remedy = "Set-FileStorageTier, Get-FileStorageTier, Clear-FileStorageTier",
        },
        new()
        {
            Name = "Hot spares and retired disks",
            State = Here,
            Difference = "A missing disk is given up after five minutes; its data is rebuilt on spares or on free space of all disks. A retired "
                + "disk is drained by itself.",
            Remedy = "Set-PhysicalDisk -Usage HotSpare, Retired, Repair-VirtualDisk",
        },
        new()
        {
            Name = "Journal disks",
            State = Here,
            Difference = "Logs, parity journals and write caches move to disks of this usage once there are enough of them.",
            Remedy = "Set-PhysicalDisk -Usage Journal",
        },
        new()
        {
            Name = "Rebalancing",
            State = Here,
            Difference = "None that matters.",
            Remedy = "Optimize-StoragePool",
        },
        new()
        {
            Name = "Enclosure awareness",
            State = Here,
            Difference = "Two enclosures suffice for two copies: the quorum of the metadata needs a third place, which may be a witness file. "
                + "Windows asks for three enclosures.",
            Remedy = "New-VirtualDisk -IsEnclosureAware, Set-StoragePool -WitnessPath",
        },
        new()
        {
            Name = "Fault domains",
            State = InPart,
            Difference = "Disk, enclosure, scale unit, chassis and rack of one machine, named by the administrator or read from enclosures. "
                + "There are no sites.",
            Remedy = "Set-PhysicalDisk, New-VirtualDisk -FaultDomainAwareness, Get-StorageFaultDomain",
        },
        new()
        {
            Name = "Scrubbing and checksums",
            State = Here,
            Difference = "Blocks of every file system are covered, not only those of ReFS. Every copy is verified every 14 days.",
            Remedy = "Set-StoragePool -ScrubIntervalDays, Get-StorageJob",
        },
        new()
        {
            Name = "Reliability counters",
            State = InPart,
            Difference = "Counted by the engine: errors, latencies, bytes. Temperature and wear are there where the system passes them on.",
            Remedy = "Get-StorageReliabilityCounter",
        },
        new()
        {
            Name = "Disks, partitions and volumes",
            State = InPart,
            Difference = "File systems are those of Linux. A drive letter is a folder below the volume root, and a volume is mounted at it.",
            Remedy = "Get-Disk, New-Partition, Format-Volume, New-Volume",
        },
        new()
        {
            Name = "Resizing online",
            State = Here,
            Difference = "Virtual disks and tiers grow while they are in use, and do not shrink.",
            Remedy = "Resize-VirtualDisk, Resize-StorageTier",
        },
        new()
        {
            Name = "RAID controllers, iSCSI and Fibre Channel below a pool",
            State = InPart,
            Difference = "As documented for Windows, such disks are not pooled. A RAID volume can be, with -Force and a warning: it hides "
                + "identity and health of its disks.",
            Remedy = "Register-PhysicalDisk -Force",
        },
        new()
        {
            Name = "4K native disks",
            State = Here,
            Difference = "Virtual disks get the greatest physical sector of their pool. A warning says where smaller sectors mean that a write "
                + "reads first. Clients that send requests of 512 bytes to sectors of 4 KiB are served.",
            Remedy = "New-VirtualDisk -LogicalSectorSize",
        },
        new()
        {
            Name = "Remote management (CIM sessions)",
            State = NotHere,
            Difference = "Cmdlets speak to the host of this machine alone, over a socket in its home folder.",
            Remedy = "Invoke-Command or ssh to the other machine",
        },
        new()
        {
            Name = "ReFS",
            State = NotHere,
            Difference = "A file system of Windows. Checksums and repair are here for every file system; block cloning is of the file system.",
            Remedy = "ext4, XFS or btrfs on a virtual disk",
        },
        new()
        {
            Name = "Data deduplication",
            State = NotHere,
            Difference = "Blocks are stored as they are written. Deduplication belongs above the virtual disk, where files are known.",
            Remedy = "btrfs with duperemove, or VDO",
        },
        new()
        {
            Name = "Compression",
            State = NotHere,
            Difference = "Not part of Storage Spaces below ReFS; a virtual disk stores what it is given.",
            Remedy = "btrfs compression",
        },
        new()
        {
            Name = "BitLocker",
            State = NotHere,
            Difference = "Encryption is not part of a pool.",
            Remedy = "LUKS (cryptsetup) on the block device of a virtual disk",
        },
        new()
        {
            Name = "Snapshots and clones of virtual disks",
            State = NotHere,
            Difference = "Windows has them for SAN arrays only, not for Storage Spaces.",
            Remedy = "Snapshots of btrfs or LVM on the virtual disk",
        },
        new()
        {
            Name = "Masking sets",
            State = NotHere,
            Difference = "They show virtual disks of SAN arrays to initiators. Storage Spaces has no masking sets on Windows either.",
            Remedy = "Connect-VirtualDisk, NBD",
        },
        new()
        {
            Name = "iSCSI Target Server",
            State = NotHere,
            Difference = "Virtual disks are served by NBD, which kernel and hypervisors of Linux speak, over TCP with TLS where it is asked for.",
            Remedy = "targetcli (LIO) on the block device of a virtual disk",
        },
        new()
        {
            Name = "SMB and NFS shares",
            State = NotHere,
            Difference = "Shares are of the file system.",
            Remedy = "Samba or the NFS server of Linux",
        },
        new()
        {
            Name = "Storage QoS",
            State = NotHere,
            Difference = "Limits of single virtual disks are not enforced. Jobs leave most of the disks' time to clients.",
            Remedy = "io.max of a control group, or limits of the hypervisor",
        },
        new()
        {
            Name = "Storage Replica",
            State = NotHere,
            Difference = "Blocks are not copied to another machine.",
            Remedy = "DRBD, or the replication of the application",
        },
        new()
        {
            Name = "Storage Spaces Direct",
            State = NotHere,
            Difference = "Pools span the disks of one machine. Nodes would need a network protocol and fencing that are not written.",
            Remedy = "Scale units as fault domains on one machine",
        },
        new()
        {
            Name = "Failover Clustering and Cluster Shared Volumes",
            State = NotHere,
            Difference = "A pool is open on one machine at a time. Its disks can be moved: the other machine opens it.",
            Remedy = "Register-PhysicalDisk on the other machine",
        },
        new()
        {
            Name = "Storage bus cache",
            State = NotHere,
            Difference = "A cache below the pool hides the medium from it.",
            Remedy = "New-VirtualDisk -WriteCacheSize, -StorageTiers",
        },
        new()
        {
            Name = "Health Service and faults",
            State = NotHere,
            Difference = "Every object says in words what is wrong, since when and what is being done.",
            Remedy = "Get-TierSpacesHost (Faults), hooks (docs/monitoring.md), Get-StoragePool, Get-VirtualDisk, Get-PhysicalDisk, /metrics",
        },
        new()
        {
            Name = "Slot lights and firmware updates",
            State = NotHere,
            Difference = "Lights of enclosures and firmware of disks are not changed.",
            Remedy = "ledctl, sg_ses, fwupdmgr",
        },
        new()
        {
            Name = "Maintenance mode",
            State = NotHere,
            Difference = "A disk that is away for less than five minutes is taken back by itself and only misses what was written meanwhile.",
            Remedy = "Set-StoragePool -RetireMissingPhysicalDisks, Set-PhysicalDisk -Usage Retired",
        },
    ];
}
