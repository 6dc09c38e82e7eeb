using TierSpaces.Contracts;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Engine;

/// <summary>The engine's refusals as documented errors: one table.</summary>
internal static class EngineErrors
{
    private static readonly Dictionary<Refusal, StorageErrorKind> kinds = new()
    {
        [Refusal.NotSupported] = StorageErrors.NotSupported,
        [Refusal.Failed] = StorageErrors.Failed,
        [Refusal.InvalidParameter] = StorageErrors.InvalidParameter,
        [Refusal.InUse] = StorageErrors.InUse,
        [Refusal.ObjectNotFound] = StorageErrors.ObjectNotFound,
        [Refusal.SizeNotSupported] = StorageErrors.SizeNotSupported,
        [Refusal.NotEnoughCapacity] = StorageErrors.NotEnoughCapacity,
        [Refusal.AccessDenied] = StorageErrors.AccessDenied,
        [Refusal.NotEnoughPhysicalDisks] = StorageErrors.NotEnoughPhysicalDisks,
        [Refusal.PoolStateForbids] = StorageErrors.PoolStateForbids,
        [Refusal.PoolReadOnly] = StorageErrors.PoolReadOnly,
        [Refusal.PoolHasVirtualDisks] = StorageErrors.PoolHasVirtualDisks,
        [Refusal.NoSuchResiliencySetting] = StorageErrors.NoSuchResiliencySetting,
        [Refusal.RedundancyRange] = StorageErrors.RedundancyRange,
        [Refusal.CopiesRange] = StorageErrors.CopiesRange,
        [Refusal.InterleaveRange] = StorageErrors.InterleaveRange,
        [Refusal.ColumnsRange] = StorageErrors.ColumnsRange,
        [Refusal.TooManyDisksFailed] = StorageErrors.TooManyDisksFailed,
        [Refusal.VirtualDiskStateForbids] = StorageErrors.VirtualDiskStateForbids,
        [Refusal.PhysicalDiskNotSupported] = StorageErrors.PhysicalDiskNotSupported,
        [Refusal.TooFewPhysicalDisks] = StorageErrors.TooFewPhysicalDisks,
        [Refusal.PhysicalDiskInUse] = StorageErrors.PhysicalDiskInUse,
        [Refusal.SectorSizeNotSupported] = StorageErrors.SectorSizeNotSupported,
        [Refusal.PhysicalDiskStillInUse] = StorageErrors.PhysicalDiskStillInUse,
        [Refusal.NameTaken] = StorageErrors.NameTaken,
        [Refusal.DuplicateDisk] = StorageErrors.DuplicateDisk,
        [Refusal.CloneDisk] = StorageErrors.CloneDisk,
        [Refusal.ForeignSignature] = StorageErrors.ForeignSignature,
        [Refusal.DamagedMember] = StorageErrors.DamagedMember,
        [Refusal.SystemManagedDisk] = StorageErrors.SystemManagedDisk,
        [Refusal.FileExists] = StorageErrors.FileExists,
        [Refusal.FileNotFound] = StorageErrors.FileNotFound,
        [Refusal.FileSystemFull] = StorageErrors.FileSystemFull,
        [Refusal.SocketTaken] = StorageErrors.SocketTaken,
        [Refusal.NotConnected] = StorageErrors.NotConnected,
    };

    /// <summary>The error of a refusal.</summary>
    public static StorageException ToStorageException(this RefusedException refused) =>
        new(kinds.GetValueOrDefault(refused.Refusal, StorageErrors.Failed), refused.Message, refused.Action, inner: refused);
}
