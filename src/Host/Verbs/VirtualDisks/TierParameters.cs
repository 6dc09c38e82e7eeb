using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Size parameters of a new virtual disk: -Size, -UseMaximumSize, or -StorageTiers with -StorageTierSizes.</summary>
internal static class TierParameters
{
    /// <summary>Requires exactly one of them.</summary>
    public static void RequireOneSize(NewVirtualDiskRequest request)
    {
        bool hasSize = request.Size is not null || request.UseMaximumSize;
        if (request.StorageTiers is null && request.StorageTierSizes is null)
        {
            RequireNoSlices(request);
            if (request.Size is not null == request.UseMaximumSize)
            {
                throw new StorageException(
                    StorageErrors.SizeOrMaximum, request.UseMaximumSize ? "Both were given." : "Neither was given.",
                    "Give -Size, -UseMaximumSize, or -StorageTiers with -StorageTierSizes.", "Size");
            }
        }
        else if (hasSize || request.StorageTiers is null || request.StorageTierSizes is null)
        {
            throw new StorageException(
                StorageErrors.SizeOrTiers,
                hasSize ? $"-{(request.UseMaximumSize ? "UseMaximumSize" : "Size")} was given with tiers."
                    : $"-{(request.StorageTiers is null ? "StorageTierSizes was given without -StorageTiers" : "StorageTiers was given without -StorageTierSizes")}.",
                "Give -Size, -UseMaximumSize, or -StorageTiers with -StorageTierSizes.", "StorageTiers");
        }
        else if (request.StorageTiers.Length != request.StorageTierSizes.Length || request.StorageTiers.Length == 0)
        {
            throw new StorageException(
                StorageErrors.SizeOrTiers,
                $"-StorageTiers names {CountText.Of(request.StorageTiers.Length, "tier")} and -StorageTierSizes has {CountText.Of(request.StorageTierSizes.Length, "size")}.",
                "Give a size for each tier, in the same order.", "StorageTierSizes");
        }
    }

    /// <summary>The tiers that are asked for in a pool.</summary>
    /// <exception cref="StorageException">A tier is not there, not a template, or one of another pool.</exception>
    public static TierRequest[] Read(Catalogue all, StoragePoolStatus pool, NewVirtualDiskRequest request) =>
        [.. (request.StorageTiers ?? []).Zip(request.StorageTierSizes ?? [], (tier, size) =>
            new TierRequest(Template(all, pool, tier, nameof(request.StorageTiers)).UniqueId, Amount.Bytes(size, nameof(request.StorageTierSizes))))];

    /// <summary>The template of a pool that a parameter names.</summary>
    /// <exception cref="StorageException">The tier is not there, not a template, or one of another pool.</exception>
    public static StorageTierStatus Template(Catalogue all, StoragePoolStatus pool, string reference, string parameter)
    {
        Selector<StorageTierStatus> templates = new Selector<StorageTierStatus>(
            "MSFT_StorageTier", [.. all.Tiers.All.Where(tier => tier.IsTemplate && tier.PoolId == pool.UniqueId)], all.Tiers.IdOf, tier => tier.FriendlyName);
        if (templates.ByReference([reference], _ => { }) is [var one])
        {
            return one;
        }

        StorageTierStatus other = all.Tiers.One(reference);
        string what = other.VirtualDisk is { } id
            ? $"a tier of virtual disk '{all.VirtualDisks.All.First(disk => disk.Description.Id.Value == id).Description.FriendlyName}', not a template"
            : $"a template of storage pool '{all.Pools.All.First(known => known.Id == other.PoolId).FriendlyName}', not of '{pool.Description.FriendlyName}'";
        throw new StorageException(
            StorageErrors.InvalidParameter, $"-{parameter}: '{other.FriendlyName}' is {what}.",
            "Name templates of the pool: Get-StoragePool … | Get-StorageTier.", parameter);
    }

    private static void RequireNoSlices(NewVirtualDiskRequest request)
    {
        if (request.SliceSize is { } slice)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, $"-SliceSize {SizeText.Exact(slice)} was given without -StorageTiers: only tiers have slices.", "Leave it out.", "SliceSize");
        }
    }
}
