namespace TierSpaces.Contracts;

/// <summary>Reads the partition tables of all disks again.</summary>
[Verb("Update-HostStorageCache", "Reads the partition tables of all disks again.", ChangesState = true, IsIdempotent = true, ReturnsNothing = true)]
public sealed record UpdateHostStorageCacheRequest : StorageRequest<DiskInfo>;
