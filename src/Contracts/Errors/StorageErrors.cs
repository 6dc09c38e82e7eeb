using System.Runtime.CompilerServices;

namespace TierSpaces.Contracts;

/// <summary>
/// The table of errors: every code, its word, what it means and its category. Rows 0 to 5xxxx are Windows' codes with their
/// meanings. Errors that Windows has no code for share code 5; their words distinguish them.
/// </summary>
public static class StorageErrors
{
    public static readonly StorageErrorKind NotSupported = Row(
        1, "NotImplemented",
        "Not supported.");

    public static readonly StorageErrorKind UnspecifiedError = Row(
        2, "NotSpecified",
        "Unspecified error.");

    public static readonly StorageErrorKind Timeout = Row(
        3, "OperationTimeout",
        "Timeout.");

    public static readonly StorageErrorKind Failed = Row(
        4, "NotSpecified",
        "Failed.");

    public static readonly StorageErrorKind InvalidParameter = Row(
        5, "InvalidArgument",
        "Invalid parameter.");

    public static readonly StorageErrorKind InUse = Row(
        6, "ResourceBusy",
        "The disk is in use.");

    public static readonly StorageErrorKind ObjectNotFound = Row(
        8, "ObjectNotFound",
        "Object not found.");

    public static readonly StorageErrorKind SizeNotSupported = Row(
        4097, "InvalidArgument",
        "Size not supported.");

    public static readonly StorageErrorKind DeviceBusy = Row(
        4099, "ResourceBusy",
        "The device is busy.");

    public static readonly StorageErrorKind NotEnoughCapacity = Row(
        40000, "ResourceUnavailable",
        "Not enough available capacity.");

    public static readonly StorageErrorKind AccessDenied = Row(
        40001, "PermissionDenied",
        "Access denied.");

    public static readonly StorageErrorKind NotEnoughResources = Row(
        40002, "ResourceUnavailable",
        "There aren't enough resources to complete the operation.");

    public static readonly StorageErrorKind UnexpectedIOError = Row(
        40004, "DeviceError",
        "An unexpected I/O error occurred.");

    public static readonly StorageErrorKind SizeOrMaximum = Row(
        40005, "InvalidArgument",
        "You must specify a size by using either the Size or the UseMaximumSize parameter.");

    public static readonly StorageErrorKind FatalHardwareError = Row(
        40007, "DeviceError",
        "The request failed due to a fatal device hardware error.");

    public static readonly StorageErrorKind ProviderUnreachable = Row(
        46000, "ConnectionError",
        "The storage provider can't be reached.");

    public static readonly StorageErrorKind SubsystemUnreachable = Row(
        46001, "ConnectionError",
        "The storage subsystem can't be reached.");

    public static readonly StorageErrorKind ProvisioningTypeNotSupported = Row(
        47001, "InvalidArgument",
        "This subsystem doesn't support creation of virtual disks with the specified provisioning type.");

    public static readonly StorageErrorKind DiskNotInitialized = Row(
        41000, "InvalidOperation",
        "The disk hasn't been initialized.");

    public static readonly StorageErrorKind DiskAlreadyInitialized = Row(
        41001, "InvalidOperation",
        "The disk is already initialized.");

    public static readonly StorageErrorKind DiskReadOnly = Row(
        41002, "InvalidOperation",
        "The disk is read only.");

    public static readonly StorageErrorKind DiskOffline = Row(
        41003, "InvalidOperation",
        "The disk is offline.");

    public static readonly StorageErrorKind PartitionLimit = Row(
        41004, "ResourceUnavailable",
        "The disk's partition limit has been reached.");

    public static readonly StorageErrorKind PartitionAlignment = Row(
        41005, "InvalidArgument",
        "The specified partition alignment isn't valid. It must be a multiple of the disk's sector size.");

    public static readonly StorageErrorKind PartitionParameter = Row(
        41006, "InvalidArgument",
        "A parameter isn't valid for this type of partition.");

    public static readonly StorageErrorKind OemPartitionsPresent = Row(
        41007, "InvalidOperation",
        "Can't clear with OEM partitions present. To clear OEM partitions, use the RemoveOEM flag.");

    public static readonly StorageErrorKind DataPartitionsPresent = Row(
        41008, "InvalidOperation",
        "Can't clear with data partitions present. To clear data partitions, use the RemoveData flag.");

    public static readonly StorageErrorKind PartitionTypeInvalid = Row(
        41010, "InvalidArgument",
        "The specified partition type isn't valid.");

    public static readonly StorageErrorKind MbrSizeLimit = Row(
        41011, "InvalidArgument",
        "Only the first 2 TB are usable on MBR disks.");

    public static readonly StorageErrorKind PartitionOffset = Row(
        41012, "InvalidArgument",
        "The specified offset isn't valid.");

    public static readonly StorageErrorKind StyleHasPartitions = Row(
        41013, "InvalidOperation",
        "Can't convert the style of a disk with data or other known partitions on it.");

    public static readonly StorageErrorKind TooSmallForGpt = Row(
        41014, "InvalidArgument",
        "The disk isn't large enough to support a GPT partition style.");

    public static readonly StorageErrorKind AccessPathInUse = Row(
        42002, "ResourceExists",
        "The requested access path is already in use.");

    public static readonly StorageErrorKind HiddenPartition = Row(
        42004, "InvalidOperation",
        "Can't assign access paths to hidden partitions.");

    public static readonly StorageErrorKind AccessPathInvalid = Row(
        42007, "InvalidArgument",
        "The access path isn't valid.");

    public static readonly StorageErrorKind UnknownFileSystem = Row(
        42009, "InvalidOperation",
        "Can't resize a partition containing an unknown file system.");

    public static readonly StorageErrorKind DataPartitionsOnly = Row(
        42011, "InvalidOperation",
        "This operation is only supported on data partitions.");

    public static readonly StorageErrorKind SeveralDriveLetters = Row(
        42012, "InvalidArgument",
        "Can't assign multiple drive letters to a partition.");

    public static readonly StorageErrorKind ClusterSize = Row(
        43000, "InvalidArgument",
        "The specified cluster size is invalid.");

    public static readonly StorageErrorKind FileSystemNotSupported = Row(
        43001, "InvalidArgument",
        "The specified file system isn't supported.");

    public static readonly StorageErrorKind VolumeReadOnly = Row(
        43006, "InvalidOperation",
        "Can't perform the requested operation when the drive is read only.");

    public static readonly StorageErrorKind RepairFailed = Row(
        43007, "DeviceError",
        "The repair failed.");

    public static readonly StorageErrorKind ScanFailed = Row(
        43008, "DeviceError",
        "The scan failed.");

    public static readonly StorageErrorKind NoFileSystem = Row(
        43014, "InvalidOperation",
        "Can't determine the file system of the drive.");

    public static readonly StorageErrorKind PrimordialPool = Row(
        48000, "InvalidOperation",
        "This operation isn't supported on primordial storage pools.");

    public static readonly StorageErrorKind PoolReserved = Row(
        48001, "InvalidOperation",
        "The storage pool is reserved for special usage only.");

    public static readonly StorageErrorKind ResiliencyNotSupported = Row(
        48002, "InvalidArgument",
        "The specified resiliency setting isn't supported by this storage pool.");

    public static readonly StorageErrorKind NotEnoughPhysicalDisks = Row(
        48004, "ResourceUnavailable",
        "There aren't enough physical disks in the storage pool to create the specified virtual disk configuration.");

    public static readonly StorageErrorKind PoolNotFound = Row(
        48005, "ObjectNotFound",
        "The specified storage pool couldn't be found.");

    public static readonly StorageErrorKind PoolStateForbids = Row(
        48006, "InvalidOperation",
        "The storage pool couldn't complete the operation because its health or operational status doesn't permit it.");

    public static readonly StorageErrorKind PoolReadOnly = Row(
        48007, "InvalidOperation",
        "The storage pool couldn't complete the operation because its configuration is read-only.");

    public static readonly StorageErrorKind PoolHasVirtualDisks = Row(
        48008, "InvalidOperation",
        "The storage pool contains virtual disks.");

    public static readonly StorageErrorKind TooManyThresholds = Row(
        48009, "InvalidArgument",
        "The number of thin provisioning alert thresholds specified exceeds the limit for this storage pool.");

    public static readonly StorageErrorKind SizeOrTiers = Row(
        48010, "InvalidArgument",
        "You must specify either the size or the tiers and their sizes, but not both.");

    public static readonly StorageErrorKind NoAutoAllocationDisks = Row(
        48011, "ResourceUnavailable",
        "No autoallocation drives found in storage pool.");

    public static readonly StorageErrorKind NoSuchResiliencySetting = Row(
        49000, "ObjectNotFound",
        "No resiliency setting with that name exists.");

    public static readonly StorageErrorKind SinglePointOfFailureRange = Row(
        49001, "InvalidArgument",
        "The value for NoSinglePointOfFailure isn't supported.");

    public static readonly StorageErrorKind RedundancyRange = Row(
        49002, "InvalidArgument",
        "The value for PhysicalDiskRedundancy is outside of the supported range of values.");

    public static readonly StorageErrorKind CopiesRange = Row(
        49003, "InvalidArgument",
        "The value for NumberOfDataCopies is outside of the supported range of values.");

    public static readonly StorageErrorKind ParityLayoutRange = Row(
        49004, "InvalidArgument",
        "The value for ParityLayout is outside of the supported range of values.");

    public static readonly StorageErrorKind InterleaveRange = Row(
        49005, "InvalidArgument",
        "The value for Interleave is outside of the supported range of values.");

    public static readonly StorageErrorKind ColumnsRange = Row(
        49006, "InvalidArgument",
        "The value for NumberOfColumns is outside of the supported range of values.");

    public static readonly StorageErrorKind VirtualDiskNotFound = Row(
        50000, "ObjectNotFound",
        "The specified virtual disk couldn't be found.");

    public static readonly StorageErrorKind TooManyDisksFailed = Row(
        50001, "InvalidOperation",
        "Too many physical disks failed: what is left is not enough to reconstruct the data.");

    public static readonly StorageErrorKind VirtualDiskStateForbids = Row(
        50003, "InvalidOperation",
        "The virtual disk couldn't complete the operation because its health or operational status doesn't permit it.");

    public static readonly StorageErrorKind ManualAttachForbids = Row(
        50004, "InvalidOperation",
        "The virtual disk couldn't complete the operation because its Manual Attach status doesn't permit it.");

    public static readonly StorageErrorKind WriteCacheSizeRange = Row(
        50005, "InvalidArgument",
        "The value for WriteCacheSize is outside of the supported range of values.");

    public static readonly StorageErrorKind PhysicalDiskNotSupported = Row(
        51000, "InvalidArgument",
        "One of the physical disks specified isn't supported by this operation.");

    public static readonly StorageErrorKind TooFewPhysicalDisks = Row(
        51001, "InvalidArgument",
        "Not enough physical disks were specified to successfully complete the operation.");

    public static readonly StorageErrorKind PhysicalDiskInUse = Row(
        51002, "ResourceBusy",
        "One of the physical disks specified is already in use.");

    public static readonly StorageErrorKind SectorSizeNotSupported = Row(
        51003, "InvalidArgument",
        "One of the physical disks specified uses a sector size that isn't supported by this storage pool.");

    public static readonly StorageErrorKind PhysicalDiskStillInUse = Row(
        51004, "ResourceBusy",
        "One of the physical disks specified couldn't be removed because it's still in use.");

    public static readonly StorageErrorKind NameTaken = Row(
        5, "ResourceExists",
        "The name is taken.");

    public static readonly StorageErrorKind SocketTaken = Row(
        5, "ResourceBusy",
        "The socket is taken by another process.");

    public static readonly StorageErrorKind SocketPathTooLong = Row(
        5, "InvalidArgument",
        "The path of the socket is too long.");

    public static readonly StorageErrorKind DuplicateDisk = Row(
        5, "InvalidArgument",
        "The same disk was given more than once.");

    public static readonly StorageErrorKind CloneDisk = Row(
        5, "InvalidArgument",
        "The disk is a copy of a member that is already here.");

    public static readonly StorageErrorKind ForeignSignature = Row(
        5, "InvalidArgument",
        "The disk holds something that is not ours.");

    public static readonly StorageErrorKind DamagedMember = Row(
        5, "InvalidArgument",
        "The member disk is damaged.");

    public static readonly StorageErrorKind TruncatedMember = Row(
        5, "InvalidArgument",
        "The member disk is smaller than it was.");

    public static readonly StorageErrorKind SystemManagedDisk = Row(
        5, "InvalidArgument",
        "The disk belongs to another storage system of this machine.");

    public static readonly StorageErrorKind FileExists = Row(
        5, "ResourceExists",
        "The file exists already.");

    public static readonly StorageErrorKind FileNotFound = Row(
        5, "ObjectNotFound",
        "There is no such file or device.");

    public static readonly StorageErrorKind FileSystemFull = Row(
        5, "ResourceUnavailable",
        "The file system is full.");

    public static readonly StorageErrorKind NotConnected = Row(
        5, "InvalidOperation",
        "The virtual disk is not connected.");

    public static readonly StorageErrorKind Connected = Row(
        5, "ResourceBusy",
        "The virtual disk is connected.");

    public static readonly StorageErrorKind DeviceMounted = Row(
        5, "ResourceBusy",
        "The block device of the virtual disk is in use.");

    public static readonly StorageErrorKind ToolMissing = Row(
        5, "NotInstalled",
        "A program that this needs is not installed.");

    public static readonly StorageErrorKind DiskNotBlank = Row(
        5, "InvalidOperation",
        "The disk is not blank.");

    public static readonly StorageErrorKind NoBlockDevice = Row(
        5, "InvalidOperation",
        "The virtual disk has no block device.");

    public static readonly StorageErrorKind MountFailed = Row(
        5, "DeviceError",
        "The file system could not be mounted.");

    public static readonly StorageErrorKind NothingToChange = Row(
        5, "InvalidArgument",
        "Nothing to change was given.");

    public static readonly StorageErrorKind HostStopping = Row(
        5, "ConnectionError",
        "The host is stopping.");

    public static readonly StorageErrorKind HostUnreachable = Row(
        5, "ConnectionError",
        "The host cannot be reached.");

    public static readonly StorageErrorKind AnswerLost = Row(
        5, "ConnectionError",
        "The host went away before it answered.");

    public static readonly StorageErrorKind HostVersion = Row(
        5, "InvalidOperation",
        "The host is of another version.");

    private static readonly Lazy<StorageErrorKind[]> s_all = new(() =>
        typeof(StorageErrors).GetFields().Select(field => field.GetValue(null)).OfType<StorageErrorKind>().ToArray());

    /// <summary>Every row.</summary>
    public static IReadOnlyList<StorageErrorKind> All => s_all.Value;

    /// <summary>
    /// The row of a code, and of a word where several share it; an unknown code becomes "Failed" with that number.
    /// </summary>
    public static StorageErrorKind Find(int code, string word = "") =>
        All.FirstOrDefault(kind => kind.Code == code && kind.Word == word)
        ?? All.FirstOrDefault(kind => kind.Code == code)
        ?? Failed with { Code = code };

    private static StorageErrorKind Row(int code, string category, string message, [CallerMemberName] string word = "") =>
        new(code, word, message, category);
}
