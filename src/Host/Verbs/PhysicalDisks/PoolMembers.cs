using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Verbs.StorageFaultDomains;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Disks that a verb on a pool names.</summary>
internal static class PoolMembers
{
    /// <summary>Identities of the named disks, in order; a disk named twice stays twice, for the engine to refuse.</summary>
    /// <exception cref="StorageException">A name fits no disk, or nothing was named.</exception>
    public static Guid[] Read(Catalogue all, string[] references)
    {
        Guid[] ids = references.SelectMany(reference =>
        {
            StorageErrorInfo? error = null;
            List<PhysicalDiskStatus> found = all.Disks.ByReference([reference], e => error = e);
            return error is null ? found : throw new StorageException(error);
        }).Select(disk => disk.UniqueId).ToArray();
        return ids.Length > 0 ? ids : throw new StorageException(
            StorageErrors.TooFewPhysicalDisks, $"-PhysicalDisks '{string.Join(", ", references)}' fits no disk.",
            "Get-PhysicalDisk lists them.");
    }

    /// <summary>Identities of the disks in the named fault domains, each once.</summary>
    /// <exception cref="StorageException">A name fits no fault domain.</exception>
    public static Guid[] In(Catalogue all, string[] references) => [.. references.SelectMany(reference =>
    {
        StorageErrorInfo? error = null;
        List<FaultDomain> found = all.FaultDomains.ByReference([reference], e => error = e);
        return error is null ? found.SelectMany(static domain => domain.Disks) : throw new StorageException(error);
    }).Select(static disk => disk.UniqueId).Distinct()];

    /// <summary>Returns the friendly names of the disks, for messages.</summary>
    public static string Names(Catalogue all, Guid[] disks) => "physical disk " + string.Join(
        ", ", disks.Select(id => $"'{all.Disks.All.First(disk => disk.UniqueId == id).FriendlyName}'"));
}
