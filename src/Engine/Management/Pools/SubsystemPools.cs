using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

public sealed partial class StorageSubsystem
{
    /// <summary>The pools: open ones, and those whose members are here without a majority.</summary>
    public Task<StoragePoolStatus[]> PoolsAsync() => Look(() => _pools.Values.Where(pool => pool.State?.Pool is not null).Select(StatusOf).ToArray());

    /// <summary>Makes a pool of registered disks.</summary>
    /// <exception cref="RefusedException">Name taken, too few or unsuitable disks; nothing was changed.</exception>
    public Task<StoragePoolStatus> NewPoolAsync(PoolDescription settings, IReadOnlyList<Guid> disks, DiskUsage usage) => Change(async LaneTask<StoragePoolStatus> () =>
    {
        RequirePoolName(settings.FriendlyName);
        List<RegisteredDisk> members = TakePoolable(disks);
        Pool pool;
        try
        {
            pool = await Pool.Create(
                Environment(), new NewPoolSpec { FriendlyName = settings.FriendlyName, Settings = settings }, [.. members.Select(disk => NewMember(disk, usage))]);
        }
        catch (PoolException failure)
        {
            throw new RefusedException(Refusal.Failed, failure.Message);
        }

        await GiveToPool(members);
        ManagedPool managed = new(pool.Id) { Pool = pool };
        _pools[pool.Id] = managed;
        IsFirstSinceBoot(pool.Id);
        Watch(pool);
        _options.Notice($"Storage pool {settings.FriendlyName} was made of {members.Count} disks.");
        return StatusOf(managed);
    });

    /// <summary>Changes settings of a pool.</summary>
    public Task<StoragePoolStatus> SetPoolAsync(Guid id, Func<PoolDescription, PoolDescription> change) => Change(async LaneTask<StoragePoolStatus> () =>
    {
        (ManagedPool managed, PoolDescription description) = Changed(id, change);
        Require(await managed.Pool!.Commit(new PoolChanged(description)), description.FriendlyName);
        return StatusOf(managed);
    });

    private (ManagedPool Pool, PoolDescription Description) Changed(Guid id, Func<PoolDescription, PoolDescription> change)
    {
        ManagedPool managed = OpenPool(id);
        PoolDescription description = change(managed.Pool!.State.Pool!);
        FriendlyNames.Require(description.FriendlyName, "NewFriendlyName");
        return !_pools.Values.Any(pool => pool != managed && SameName(pool.State?.Pool?.FriendlyName, description.FriendlyName))
            ? (managed, description)
            : throw new RefusedException(Refusal.NameTaken, $"-NewFriendlyName '{description.FriendlyName}' is the name of another storage pool.", "Choose another name.");
    }

    /// <summary>Looks at every registered disk again and opens pools that have become complete.</summary>
    public Task<StoragePoolStatus[]> UpdatePoolsAsync() => Change(async LaneTask<StoragePoolStatus[]> () =>
    {
        foreach (RegisteredDisk disk in _registry.Disks.Where(disk => !IsInOpenPool(disk)).ToArray())
        {
            await OpenRegistered(disk);
            if (disk is { Disk: not null, Scan.Label: { } label } && _pools.TryGetValue(label.Pool, out ManagedPool? managed) && managed.Pool is not null)
            {
                await OfferOrOpen(disk);
            }
        }

        await ReturnMissingDisks();
        await OpenPools();
        return [.. _pools.Values.Where(pool => pool.State?.Pool is not null).Select(StatusOf)];
    });

    /// <summary>
    /// Opens the pools whose members are registered. While members are being registered one by one a pool waits for its last one
    /// (<paramref name="onlyWhole"/>): opened earlier, it would have to leave that one out and make it stale.
    /// </summary>
    private async LaneTask<Nothing> OpenPools(bool onlyWhole = false, PoolId? only = null)
    {
        var groups = _registry.Disks.Where(disk => disk is { Disk: not null, Scan.Label: not null })
            .GroupBy(disk => disk.Scan!.Label!.Pool)
            .Where(group => (only is null || group.Key == only) && (!_pools.TryGetValue(group.Key, out ManagedPool? known) || known.Pool is null)).ToArray();
        List<ManagedPool> opened = [];
        foreach (IGrouping<PoolId, RegisteredDisk> group in groups)
        {
            PoolView? view = group.Select(disk => disk.Scan!.Superblock?.View).MaxBy(view => view?.Rank);
            int missing = view?.Members.Count(member => !group.Any(disk => disk.Scan!.Label!.Number == member.Disk)) ?? 0;
            if (onlyWhole && missing > 0)
            {
                Await(group.Key, missing);
            }
            else if (await TryOpenPool(group.Key, [.. group]) is { } managed)
            {
                opened.Add(managed);
            }
        }

        foreach (ManagedPool managed in opened)   // once all pools are open: write caches may be in another one
        {
            await OpenVirtualDisks(managed);
            await AttachWaiting(managed);
        }

        foreach (ManagedPool managed in opened)   // once all virtual disks are open: what was dirty is stale on disks that have left
        {
            await RejoinDisks(managed);
            await ResumeJobs(managed);
            StartRepairs(managed);
        }

        return default;
    }

    private void Await(PoolId id, int missing)
    {
        if (!_pools.TryGetValue(id, out ManagedPool? managed))
        {
            _pools[id] = managed = new ManagedPool(id);
        }

        managed.Reason = $"{missing} of its disks are not registered yet; register them, or run Update-StoragePool to open it without them";
    }

    private async LaneTask<ManagedPool?> TryOpenPool(PoolId id, List<RegisteredDisk> disks)
    {
        if (!_pools.TryGetValue(id, out ManagedPool? managed))
        {
            _pools[id] = managed = new ManagedPool(id);
        }

        PoolOpenResult result = await Pool.Open(Environment(), id, [.. disks.Select(disk => disk.Scan!)]);
        managed.Pool = result.Pool;
        managed.Reason = result.Reason;
        managed.LastKnownState = result.LastKnownState ?? (managed.IsLost ? managed.LastKnownState : null);
        managed.IsLost &= managed.Pool is null;
        foreach (RefusedDisk refused in result.Refused)
        {
            if (disks.Find(disk => disk.Disk == refused.Disk) is { } known)
            {
                known.Problem = refused.Reason;
                known.IsSplit = refused.IsOtherHistory;
                if (refused.IsOtherHistory)
                {
                    _options.Notice(refused.Reason);
                }
            }
        }

        if (managed.Pool is null)
        {
            _options.Notice($"Storage pool {managed.State?.Pool?.FriendlyName ?? id.Value.ToString()} is not open: {managed.Reason}");
            return null;
        }

        await GiveToPool(disks.FindAll(disk => disk.Problem.Length == 0));
        Watch(managed.Pool);
        return managed;
    }

    private void Watch(Pool pool) =>
        pool.CapacityAlerted += alert => _options.Notice(alert);

    // Virtual disks stop before any pool does: their write caches may be in another one.
    private async LaneTask<bool> StopDisks(ManagedPool managed)
    {
        bool clean = true;
        await _jobs.Stop(job => job.Spec.Pool == managed.Id.Value, JobState.Suspended);
        GatherReliability();
        foreach (ManagedVirtualDisk disk in managed.VirtualDisks.Values.ToArray())
        {
            await StopExport(disk);
            clean &= await disk.Open.Close() == IoError.None;
        }

        managed.VirtualDisks.Clear();
        managed.Unopened.Clear();
        return clean;
    }

    private static async LaneTask<Nothing> ClosePool(ManagedPool managed, bool clean)
    {
        if (managed.Pool is { } pool)
        {
            await pool.Close(clean);
        }

        managed.Pool = null;
        return default;
    }

    private ManagedPool OpenPool(Guid id)
    {
        if (!_pools.TryGetValue(new PoolId(id), out ManagedPool? managed))
        {
            throw new RefusedException(Refusal.ObjectNotFound, $"There is no storage pool {id}.", "Look at Get-StoragePool.");
        }

        return managed.Pool is not null ? managed : throw new RefusedException(
            Refusal.PoolStateForbids, $"Storage pool '{managed.State?.Pool?.FriendlyName}' is not open: {managed.Reason}",
            "Register its missing disks.");
    }

    private List<RegisteredDisk> TakePoolable(IReadOnlyList<Guid> ids)
    {
        List<RegisteredDisk> disks = [];
        foreach (Guid id in ids)
        {
            RegisteredDisk disk = Registered(id);
            if (disks.Contains(disk))
            {
                throw new RefusedException(Refusal.DuplicateDisk, $"-PhysicalDisks names '{disk.FriendlyName}' twice.", "Name each disk once.");
            }

            if (WhyNotPoolable(disk) is { } why)
            {
                throw new RefusedException(why.Refusal, $"-PhysicalDisks: '{disk.FriendlyName}' ({disk.Uri}) cannot be pooled: {why.Reason}", "Look at CannotPoolReason of Get-PhysicalDisk.");
            }

            disks.Add(disk);
        }

        return disks.Count > 0 ? disks : throw new RefusedException(Refusal.TooFewPhysicalDisks, "-PhysicalDisks is empty; a storage pool needs at least one disk.");
    }

    private NewDiskSpec NewMember(RegisteredDisk disk, DiskUsage usage) => new(disk.Disk!, disk.FriendlyName)
    {
        Usage = usage,
        MediaType = disk.Overrides.MediaType,
        EnclosureNumber = disk.EnclosureNumber,
        SlotNumber = disk.SlotNumber,
        Description = disk.Description,
    };

    /// <summary>From here on the pool owns these open disks; their labels tell from now on which member each one is.</summary>
    private async LaneTask<Nothing> GiveToPool(List<RegisteredDisk> disks)
    {
        foreach (RegisteredDisk disk in disks)
        {
            Saw(disk, await PoolScan.Scan(_lane, disk.Disk!));
            disk.Disk = null;
            disk.Problem = "";
        }

        return default;
    }

    private PoolEnvironment Environment() => new(_lane, _options.State, _options.NodeId, _options.Deadlines)
    {
        FindPool = FindPool,
        NameOfPool = NameOfPool,
    };

    private static StoragePoolStatus StatusOf(ManagedPool managed)
    {
        PoolState state = managed.State!;
        DiskDescription[] disks = [.. state.Disks.Values.Select(disk => disk.Description)];
        long slab = state.Pool!.Slabs.DataBytes;
        return new StoragePoolStatus
        {
            UniqueId = managed.Id.Value,
            Description = state.Pool,
            Health = managed.Pool?.HealthStatus ?? HealthStatus.Unhealthy,
            OperationalStatus = managed.Pool?.OperationalStatus ?? PoolOperationalStatus.Incomplete,
            StatusReason = managed.Pool?.StatusReason ?? managed.Reason,
            SizeBytes = disks.Sum(disk => disk.SlabCount * slab),
            LentWriteCacheBytes = LentCachePlan.LentBytes(state),
            AllocatedBytes = state.Disks.Values.Sum(disk => disk.UsedSlabs * slab),
            MetadataPages = managed.Pool?.MetadataPages is { Most: > 0 } pages ? pages : null,
            ScrubInterval = managed.Pool is { } open ? ScrubInterval(open) : null,
            WriteCacheSizeMax = managed.Pool is { } pool ? WriteCachePlan.LargestOfSimple(pool) : 0,
            LogicalSectorSize = disks.Length == 0 ? 512 : disks.Max(disk => disk.LogicalSectorSize),
            PhysicalSectorSize = disks.Length == 0 ? 4096 : disks.Max(disk => disk.PhysicalSectorSize),
        };
    }

    private void RequirePoolName(string name)
    {
        FriendlyNames.Require(name, "FriendlyName");
        if (_pools.Values.Any(pool => SameName(pool.State?.Pool?.FriendlyName, name)))
        {
            throw new RefusedException(Refusal.NameTaken, $"-FriendlyName '{name}' is the name of another storage pool.", "Choose another name.");
        }
    }

    private static void RequireEmpty(ManagedPool managed)
    {
        PoolState state = managed.State!;
        if (state.VirtualDisks.Count > 0)
        {
            string names = string.Join(", ", state.VirtualDisks.Values.Select(disk => disk.FriendlyName));
            throw new RefusedException(
                Refusal.PoolHasVirtualDisks, $"Storage pool '{state.Pool!.FriendlyName}' has virtual disks: {names}.", "Remove them first.");
        }
    }

    private static bool SameName(string? a, string b) => string.Equals(a, b, StringComparison.OrdinalIgnoreCase);

    private static void Require(CommitResult result, string what)
    {
        if (!result.Succeeded)
        {
            throw new RefusedException(
                result.Status switch
                {
                    CommitStatus.NoSpace => Refusal.NotEnoughCapacity,
                    CommitStatus.Refused => Refusal.InvalidParameter,
                    _ => Refusal.PoolStateForbids,
                },
                $"'{what}': {result.Reason}");
        }
    }
}
