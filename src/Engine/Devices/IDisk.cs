using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

/// <summary>Kind of medium, numbered as in Windows.</summary>
public enum MediaType
{
    /// <summary>Not known.</summary>
    Unspecified = 0,

    /// <summary>Rotating disk.</summary>
    HDD = 3,

    /// <summary>Flash.</summary>
    SSD = 4,

    /// <summary>Storage class memory.</summary>
    SCM = 5,
}

/// <summary>Bus that connects a disk, numbered as in Windows.</summary>
public enum BusType
{
    /// <summary>Not known.</summary>
    Unknown = 0,

    /// <summary>SCSI.</summary>
    SCSI = 1,

    /// <summary>ATAPI.</summary>
    ATAPI = 2,

    /// <summary>ATA.</summary>
    ATA = 3,

    /// <summary>IEEE 1394.</summary>
    FireWire = 4,

    /// <summary>SSA.</summary>
    SSA = 5,

    /// <summary>Fibre Channel.</summary>
    FibreChannel = 6,

    /// <summary>USB.</summary>
    USB = 7,

    /// <summary>RAID controller.</summary>
    RAID = 8,

    /// <summary>iSCSI.</summary>
    iSCSI = 9,

    /// <summary>SAS.</summary>
    SAS = 10,

    /// <summary>SATA.</summary>
    SATA = 11,

    /// <summary>SD card.</summary>
    SD = 12,

    /// <summary>MMC.</summary>
    MMC = 13,

    /// <summary>Virtual (para-virtual disk).</summary>
    Virtual = 14,

    /// <summary>A file that holds a disk image.</summary>
    FileBackedVirtual = 15,

    /// <summary>Storage Spaces (here: md, device-mapper).</summary>
    Spaces = 16,

    /// <summary>NVMe.</summary>
    NVMe = 17,

    /// <summary>Storage class memory.</summary>
    SCM = 18,
}

/// <summary>Properties of a disk, as the system or the user describes them. They never identify the disk in a pool: its label does.</summary>
/// <param name="Uri">URI by which it was opened: <c>file:</c>, <c>block:</c> or <c>emulated:</c> and a path.</param>
/// <param name="DeviceKey">Identity of the device itself (device and inode, or major:minor), to tell a clone from a second path.</param>
/// <param name="SizeBytes">Capacity in bytes.</param>
/// <param name="LogicalSectorSize">512 or 4096.</param>
/// <param name="PhysicalSectorSize">512 or 4096, at least the logical size.</param>
/// <param name="MediaType">Kind of medium.</param>
/// <param name="BusType">Bus that connects it.</param>
/// <param name="SpindleSpeed">Revolutions per minute, 0 for none, 4294967295 for unknown (as Windows).</param>
/// <param name="IsWriteCacheEnabled">Whether completed writes may be volatile.</param>
/// <param name="SerialNumber">Serial number, or empty.</param>
/// <param name="Model">Model, or empty.</param>
/// <param name="Manufacturer">Manufacturer, or empty.</param>
/// <param name="FirmwareVersion">Firmware, or empty.</param>
/// <param name="CannotPoolReason">Reason why the disk may not be pooled, from the system and not from its contents; empty when it may.</param>
public sealed record DiskIdentity(
    string Uri,
    string DeviceKey,
    long SizeBytes,
    int LogicalSectorSize,
    int PhysicalSectorSize,
    MediaType MediaType,
    BusType BusType,
    uint SpindleSpeed,
    bool IsWriteCacheEnabled,
    string SerialNumber,
    string Model,
    string Manufacturer,
    string FirmwareVersion,
    string CannotPoolReason)
{
    /// <summary>
    /// Names the hardware behind the device, to tell a second path to a disk from a copy of it; empty where nothing is known. Devices of which this is the
    /// same are paths to one disk.
    /// </summary>
    public string Hardware { get; init; } = "";

    /// <summary>
    /// Changes when the device may have lost what it had not flushed while the machine was running: it was attached again, or the file system below it was.
    /// 0: not known.
    /// </summary>
    public ulong Incarnation { get; init; }

    /// <summary>The slot of an enclosure that it is in, or null if none is reported.</summary>
    public EnclosureSlot? Slot { get; init; }

    /// <summary>Kind of <see cref="CannotPoolReason"/>.</summary>
    public CannotPoolKind CannotPoolKind { get; init; } = CannotPoolKind.Other;

    /// <summary>Reason that is left if the user accepts a RAID below the disk; null if that changes nothing.</summary>
    public PoolingObstacle? IfForced { get; init; }
}

/// <summary>
/// A member disk as the pool sees it: a store whose unit is its logical sector, opened exclusively. Reads and writes take striped buffers too.
/// </summary>
public interface IDisk : IBlockStore
{
    /// <summary>Properties of the disk.</summary>
    DiskIdentity Identity { get; }

    /// <summary>
    /// Whether the device was there with its size when that was last found out: by <see cref="CheckPresence"/>, a flush, a durable write, or a request that
    /// failed, through any handle. Once gone, it stays gone until the disk is reopened. No system call.
    /// </summary>
    bool IsPresent { get; }

    /// <summary>
    /// Looks whether the device is still there with its size; a truncated or unlinked image is gone. It is a request like the others: it may take as long as
    /// the file system does, and disks with deadlines end it with TimedOut. NoDevice or DeviceGone: the device is gone.
    /// </summary>
    LaneTask<IoError> CheckPresence() => new(IsPresent ? IoError.None : IoError.NoDevice);

    /// <summary>Requests submitted and not completed; of an owner whose requests are counted also those of its handles.</summary>
    int InFlight { get; }

    /// <summary>
    /// Detaches the pool from this disk. Requests in flight complete with DeviceGone now, and nothing more is submitted. Only closing and
    /// reopening the disk brings it back. Disks without deadlines ignore this.
    /// </summary>
    void Disconnect()
    {
    }

    /// <summary>
    /// Prepares a handle of this disk for another lane; called on the lane of the disk while it is open, and makes no blocking call. The caller brings the
    /// share to that lane, which opens it (<see cref="DiskShare.Open"/>), or disposes of it on this lane: until then the device cannot be released.
    /// Writes of different lanes that overlap, or that are in the same 4096 bytes, are never under way together: the lanes agree about that.
    /// </summary>
    /// <exception cref="NotSupportedException">Only one lane can use disks of this kind.</exception>
    /// <exception cref="InvalidOperationException">The disk is closed, or is itself a handle of a kind that cannot be shared again.</exception>
    /// <exception cref="DiskOpenException">The process has too many open files.</exception>
    DiskShare Share() => throw new NotSupportedException($"{Identity.Uri}: this kind of disk can be used by one lane only.");

    /// <summary>Gives calls that zero, unmap or discard ranges a condition, which is looked at just before each of them is made; null: none.</summary>
    internal void GuardCalls(ICallCondition? condition)
    {
    }

    /// <summary>
    /// Waits for everything in flight and closes this way to the device. The last one of the owner and its handles to be closed releases the exclusive lock.
    /// No one of them waits for another.
    /// </summary>
    LaneTask Close();
}
