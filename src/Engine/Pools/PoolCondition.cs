using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>Condition of an open pool and the reasons why it is not OK, as functions of the pool or a snapshot of it.</summary>
internal static class PoolCondition
{
    /// <summary>Percent of the metadata area from which on the pool is in health Warning.</summary>
    internal const int MetadataAlertPercent = 80;

    /// <summary>Returns the operations that the pool can do.</summary>
    internal static PoolOperationalStatus StatusOf(IPoolReader pool)
    {
        if (pool.LostReason.Length > 0)
        {
            return PoolOperationalStatus.Incomplete;
        }

        if (pool.State.Pool!.IsReadOnly)
        {
            return PoolOperationalStatus.ReadOnly;
        }

        CapacityLevel capacity = CapacityAlert.LevelOf(pool.State, pool.Allocator);
        return capacity == CapacityLevel.Full ? PoolOperationalStatus.Error
            : pool.PausedSince is not null || MissingDisks(pool).Any() ? PoolOperationalStatus.Degraded
            : capacity == CapacityLevel.AlertReached || MetadataAlert(pool).Length > 0 ? PoolOperationalStatus.Stressed
            : PoolOperationalStatus.OK;
    }

    /// <summary>Returns the health that follows from a status.</summary>
    internal static HealthStatus HealthOf(PoolOperationalStatus status) => status switch
    {
        PoolOperationalStatus.Incomplete or PoolOperationalStatus.Error => HealthStatus.Unhealthy,
        PoolOperationalStatus.Degraded or PoolOperationalStatus.Stressed or PoolOperationalStatus.InService => HealthStatus.Warning,
        _ => HealthStatus.Healthy,
    };

    /// <summary>Returns the reason why the pool is not OK, for people; empty when it is.</summary>
    internal static string ReasonOf(IPoolReader pool) =>
        pool.LostReason.Length > 0 ? pool.LostReason : string.Join(' ', Reasons(pool).Where(static reason => reason.Length > 0));

    /// <summary>Returns the disks of the pool that are not in the view.</summary>
    internal static IEnumerable<DiskNumber> MissingDisks(IPoolReader pool) => pool.State.Disks.Keys.Where(disk => !pool.View.Contains(disk));

    /// <summary>Says of disks of a pool, by name, what is the matter with them; empty where there are none.</summary>
    internal static string Describe(PoolState state, DiskNumber[] disks, string ofOne, string ofSeveral)
    {
        string names = NameList.Of([.. disks.Select(disk => $"'{state.Disk(disk)!.Description.FriendlyName}'")]);
        return disks.Length switch
        {
            0 => "",
            1 => $"Physical disk {names} {ofOne}.",
            _ => $"Physical disks {names} {ofSeveral}.",
        };
    }

    private static IEnumerable<string> Reasons(IPoolReader pool)
    {
        yield return pool.PausedSince is not { } since ? ""
            : $"Paused: its lease cannot be renewed on the majority of its disks since {since.UtcDateTime:yyyy-MM-dd HH:mm:ss} UTC. Requests wait.";
        yield return pool.FullMember.Length > 0 ? $"The file system under {pool.FullMember} is full: metadata writes wait for space." : "";
        yield return Describe(pool.State, [.. MissingDisks(pool)], "is missing", "are missing");
        yield return CapacityAlert.Describe(pool.State, pool.Allocator);
        yield return MetadataAlert(pool);
    }

    /// <summary>Alert with the share of the metadata area in use, from <see cref="MetadataAlertPercent"/> on; else empty.</summary>
    private static string MetadataAlert(IPoolReader pool)
    {
        (long used, long most) = pool.MetadataPages;
        return most > 0 && used * 100 >= most * MetadataAlertPercent
            ? $"The metadata area is {used * 100 / most} % full ({used} of {most} pages). When it is full, virtual disks cannot be created or extended and first writes of thin ones fail with ENOSPC; "
                + "everything else works. Remove virtual disks, or replace the smallest disks of the pool by larger ones."
            : "";
    }
}
