using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Host.Verbs.StoragePools;

/// <summary>Settings of pools as the engine takes them; null stays null.</summary>
internal static class PoolSettings
{
    /// <summary>The default sector size of a pool that names none: each virtual disk follows the pool's disks.</summary>
    public const ushort SectorByDisks = 0;

    /// <summary>Thin or Fixed.</summary>
    /// <exception cref="StorageException">Unknown.</exception>
    public static Engine.Formats.ProvisioningType? Provisioning(Contracts.ProvisioningType? type, string parameter = "ProvisioningTypeDefault") =>
        type != Contracts.ProvisioningType.Unknown
            ? (Engine.Formats.ProvisioningType?)type
            : throw new StorageException(
                StorageErrors.InvalidParameter, $"-{parameter} Unknown: not possible. Valid: Thin and Fixed.", "Give Thin or Fixed.", parameter);

    /// <summary>The name of a resiliency setting as the pool spells it.</summary>
    /// <exception cref="StorageException">The pool has none of that name.</exception>
    public static string? Resiliency(PoolDescription pool, string? name)
    {
        if (name is null)
        {
            return null;
        }

        string[] names = pool.ResiliencySettings.Select(setting => setting.Name).ToArray();
        return names.FirstOrDefault(known => known.Equals(name, StringComparison.OrdinalIgnoreCase)) ?? throw new StorageException(
            StorageErrors.NoSuchResiliencySetting, $"-ResiliencySettingNameDefault '{name}' is not one of {string.Join(", ", names)}.",
            target: name);
    }

    /// <summary>The settings with another default of the write cache's size.</summary>
    /// <exception cref="StorageException">The two parameters contradict each other, or the size cannot be.</exception>
    public static PoolDescription WithWriteCache(PoolDescription pool, ulong? size, bool? auto)
    {
        bool isAutomatic = size is ulong.MaxValue || (size is null && auto == true);
        if (size is { } given && (given is > long.MaxValue and < ulong.MaxValue || (auto is { } said && said != isAutomatic)))
        {
            throw new StorageException(
                StorageErrors.WriteCacheSizeRange,
                $"-WriteCacheSizeDefault {SizeText.Exact(given)} {(given is > long.MaxValue and < ulong.MaxValue ? $"is more than {SizeText.Exact(long.MaxValue)}" : $"contradicts -AutoWriteCacheSize {auto}")}.",
                "Give a size, 0 for none, or -AutoWriteCacheSize $true to let the pool choose.", "WriteCacheSizeDefault");
        }

        return (size, auto) switch
        {
            (null, null) => pool,
            _ when isAutomatic => pool with { WriteCacheSizeDefault = ulong.MaxValue, AutoWriteCacheSize = true },
            _ => pool with
            {
                WriteCacheSizeDefault = size ?? (pool.WriteCacheSizeDefault == ulong.MaxValue ? 0 : pool.WriteCacheSizeDefault), AutoWriteCacheSize = false,
            },
        };
    }

    /// <summary>The percentage of use at which a warning is raised.</summary>
    /// <exception cref="StorageException">None, several, or one outside 1 to 99.</exception>
    public static byte? Threshold(ushort[]? thresholds) => thresholds switch
    {
        null => null,
        [>= 1 and <= 99 and var one] => (byte)one,
        [var one] => throw new StorageException(
            StorageErrors.InvalidParameter, $"-ThinProvisioningAlertThresholds {one}: out of range. Valid: 1 to 99 percent."),
        _ => throw new StorageException(
            StorageErrors.TooManyThresholds, $"-ThinProvisioningAlertThresholds has {thresholds.Length} values; a pool has one."),
    };
}
