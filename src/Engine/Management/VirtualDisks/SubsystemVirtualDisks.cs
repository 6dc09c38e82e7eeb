using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

public sealed partial class StorageSubsystem
{
    /// <summary>The virtual disks of every pool that is known.</summary>
    public Task<VirtualDiskStatus[]> VirtualDisksAsync() => Look(() => _pools.Values
        .SelectMany(managed => (managed.State?.VirtualDisks.Values ?? []).Where(disk => !disk.IsBeingCreated).Select(disk => StatusOf(managed, disk.Id))).ToArray());

    /// <summary>Makes a virtual disk. It is detached until it is connected.</summary>
    /// <exception cref="RefusedException">A parameter is outside its range or the pool has no room; nothing was changed.</exception>
    public Task<VirtualDiskStatus> NewVirtualDiskAsync(Guid pool, VirtualDiskRequest request) => Change(async LaneTask<VirtualDiskStatus> () =>
    {
        (ManagedPool managed, NewVirtualDiskSpec spec, IReadOnlyList<string> remarks) = Decide(pool, request);
        VirtualDiskResult result = await VirtualDiskBuilder.Create(managed.Pool!, spec);
        if (result.Disk is not { } open)
        {
            throw new RefusedException(
                result.Status == CommitStatus.NoSpace ? Refusal.NotEnoughCapacity : Refusal.Failed,
                $"-Size {spec.SizeBytes} of virtual disk '{spec.FriendlyName}': {result.Reason}", "Give a smaller size, or add disks to the pool.");
        }

        managed.VirtualDisks[open.Description.Id] = new ManagedVirtualDisk(open);
        _options.Notice($"Virtual disk {spec.FriendlyName} was made.");
        return StatusOf(managed, open.Description.Id) with { Remarks = remarks };
    });

    private (ManagedPool Pool, NewVirtualDiskSpec Spec, IReadOnlyList<string> Remarks) Decide(Guid pool, VirtualDiskRequest request)
    {
        ManagedPool managed = OpenPool(pool);
        if (managed.Pool!.State.Pool!.IsReadOnly)
        {
            throw new RefusedException(Refusal.PoolReadOnly, $"Storage pool '{managed.Pool.State.Pool.FriendlyName}' is read-only.", "Set -IsReadOnly $false first.");
        }

        VirtualDiskPlan plan = new(managed.Pool, request, LenderFor(managed, request));
        return (managed, plan.Decide(), plan.Remarks);
    }

    /// <summary>Changes name, usage or access of a virtual disk.</summary>
    public Task<VirtualDiskStatus> SetVirtualDiskAsync(Guid id, Func<VirtualDiskDescription, VirtualDiskDescription> change) => Change(async LaneTask<VirtualDiskStatus> () =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk, VirtualDiskDescription changed) = Changed(id, change);
        Require(await managed.Pool!.Commit(new VirtualDiskChanged(changed)), changed.FriendlyName);
        disk.Open.Description = changed;
        disk.Open.Disk.IsReadOnly = changed.IsReadOnly;
        disk.Open.Tiering?.LoadSettings();
        if (disk.Open.Cache is { } cache)
        {
            cache.Settings = changed.Destage;
        }

        return StatusOf(managed, changed.Id);
    });

    private (ManagedPool Pool, ManagedVirtualDisk Disk, VirtualDiskDescription Description) Changed(
        Guid id, Func<VirtualDiskDescription, VirtualDiskDescription> change)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = OpenDisk(id);
        VirtualDiskDescription changed = change(disk.Open.Description);
        FriendlyNames.Require(changed.FriendlyName, "NewFriendlyName");
        if (managed.State!.VirtualDisks.Values.Any(
            other => other.Id != changed.Id && string.Equals(other.FriendlyName, changed.FriendlyName, StringComparison.OrdinalIgnoreCase)))
        {
            throw new RefusedException(
                Refusal.NameTaken,
                $"-NewFriendlyName '{changed.FriendlyName}' is the name of another virtual disk of storage pool '{managed.State.Pool!.FriendlyName}'.",
                "Choose another name.");
        }

        if (disk.IsExported && changed.FriendlyName != disk.Open.Description.FriendlyName)
        {
            throw new RefusedException(
                Refusal.VirtualDiskStateForbids, $"Virtual disk '{disk.Open.Description.FriendlyName}' is connected under its name.", "Disconnect it first.");
        }

        return (managed, disk, changed);
    }

    /// <summary>Makes a virtual disk longer.</summary>
    public Task<VirtualDiskStatus> ResizeVirtualDiskAsync(Guid id, long sizeBytes) => Change(async LaneTask<VirtualDiskStatus> () =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = OpenDisk(id);
        VirtualDiskDescription description = disk.Open.Description;
        long size = NewSize(managed.Pool!, description, sizeBytes);
        CommitResult result = size == description.SizeBytes ? CommitResult.Committed : await VirtualDiskGrowth.Grow(managed.Pool!, disk.Open, size);
        if (result.Status == CommitStatus.NoSpace)
        {
            throw new RefusedException(
                Refusal.NotEnoughCapacity, $"-Size {sizeBytes} of virtual disk '{description.FriendlyName}': {result.Reason}",
                VirtualDiskPlan.DisksToAdd(managed.Pool!, description, size - description.SizeBytes));
        }

        Require(result, description.FriendlyName);
        return StatusOf(managed, description.Id);
    });

    /// <summary>The size that a virtual disk is to grow to, in whole rows.</summary>
    private static long NewSize(Pool pool, VirtualDiskDescription description, long sizeBytes)
    {
        if (description.IsTiered)
        {
            throw new RefusedException(
                Refusal.NotSupported, $"-Size {sizeBytes}: virtual disk '{description.FriendlyName}' has tiers, whose sizes are its size.", "Make a tier larger with Resize-StorageTier.");
        }

        long row = VirtualDiskLayout.ShapeOf(pool, description).RowSize;
        long size = VirtualDiskPlan.RoundUp(sizeBytes, row, "Size");
        if (size < description.SizeBytes)
        {
            throw new RefusedException(
                Refusal.SizeNotSupported, $"-Size {sizeBytes} is smaller than virtual disk '{description.FriendlyName}' ({description.SizeBytes} bytes).",
                "A virtual disk is not made smaller.");
        }

        if (size / row > SpaceDescription.MaxRows)
        {
            throw new RefusedException(
                Refusal.SizeNotSupported,
                $"-Size {sizeBytes} of virtual disk '{description.FriendlyName}' is more than {SpaceDescription.MaxRows * row} bytes, the largest with this slab and these columns.");
        }

        return size;
    }

    /// <summary>Exports a virtual disk on its socket, now and after every restart.</summary>
    /// <param name="id">Virtual disk.</param>
    /// <param name="force">Whether what a lost write cache of it held is given up; the remarks say what that was.</param>
    public Task<VirtualDiskStatus> ConnectVirtualDiskAsync(Guid id, bool force = false) => Change(async LaneTask<VirtualDiskStatus> () =>
    {
        await OpenAgain(id);
        await BringBackFailed(id);
        IReadOnlyList<string> remarks = await BringBackLostCache(id, force);
        (ManagedPool managed, ManagedVirtualDisk disk) = TakeUsable(id);
        VirtualDiskDescription description = disk.Open.Description;
        if (!disk.IsExported)
        {
            StartExport(disk);
            CommitResult result = await managed.Pool!.Commit(new VirtualDiskChanged(description with { IsConnected = true }));
            if (!result.Succeeded)
            {
                await StopExport(disk);
                Require(result, description.FriendlyName);
            }

            disk.Open.Description = description with { IsConnected = true };
        }

        return StatusOf(managed, description.Id) with { Remarks = remarks };
    });

    /// <summary>
    /// Ends the export of a virtual disk; clients are drained, then dropped. The order: (1) no further request is taken; (2) what clients wrote is
    /// flushed; (3) the description says detached; (4) the export ends. If (2) or (3) fails the virtual disk stays connected. A virtual disk that
    /// takes no requests any more can be disconnected all the same; the remarks say what that costs.
    /// </summary>
    public Task<VirtualDiskStatus> DisconnectVirtualDiskAsync(Guid id) => Change(async LaneTask<VirtualDiskStatus> () =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = OpenDisk(id);
        bool isUsable = disk.Open.Fault == IoError.None;
        NbdExport? export = disk.Export;
        if (export is not null)
        {
            await export.Suspend();
        }

        try
        {
            IReadOnlyList<string> remarks = await FlushForDisconnect(disk, isUsable);
            VirtualDiskDescription description = disk.Open.Description with { IsConnected = false };
            Require(await managed.Pool!.Commit(new VirtualDiskChanged(description)), description.FriendlyName);
            disk.Open.Description = description;
            await StopExport(disk);
            return StatusOf(managed, description.Id) with { Remarks = remarks };
        }
        finally
        {
            export?.Resume();
        }
    });

    private static async LaneTask<IReadOnlyList<string>> FlushForDisconnect(ManagedVirtualDisk disk, bool isUsable)
    {
        IoError error = await disk.Open.Disk.Flush();
        string name = disk.Open.Description.FriendlyName;
        return error == IoError.None || disk.Open.Disk.IsReadOnly ? []
            : !isUsable ? [$"What clients wrote to virtual disk '{name}' since their last flush is not durable: {disk.Open.FaultReason} ({error})."]
            : throw new RefusedException(
                Refusal.Failed, $"Virtual disk '{name}' could not be flushed ({error}) and stays connected: what clients wrote since their last flush may not be durable.",
                "Look at Get-VirtualDisk and its disks, then disconnect it again.");
    }

    /// <summary>Sizes that a new virtual disk of a layout may have.</summary>
    public Task<SupportedSize> SupportedSizeAsync(Guid pool, string resiliencySettingName) => Look(() =>
        VirtualDiskPlan.SupportedSize(OpenPool(pool).Pool!, resiliencySettingName));

    private async LaneTask<Nothing> OpenVirtualDisks(ManagedPool managed)
    {
        Pool pool = managed.Pool!;
        bool isFirst = IsFirstSinceBoot(managed.Id);
        foreach (VirtualDiskDescription known in pool.State.VirtualDisks.Values)
        {
            if (known.IsBeingCreated)
            {
                await VirtualDiskBuilder.Remove(pool, known.Id);
                continue;
            }

            bool waits = isFirst && known is { IsManualAttach: true, IsConnected: true };
            VirtualDiskDescription disk = waits ? known with { IsConnected = false } : known;
            if (waits && !(await pool.Commit(new VirtualDiskChanged(disk))).Succeeded)
            {
                _options.Notice($"Virtual disk {disk.FriendlyName} is attached by hand only; that it is detached now could not be noted.");
            }

            await TryOpenDisk(managed, disk);
        }

        return default;
    }

    /// <summary>
    /// Opens a virtual disk of an open pool and attaches it. If the host's own files fail, the disk stays closed with the reason; other disks
    /// and the host are not concerned.
    /// </summary>
    private async LaneTask<Nothing> TryOpenDisk(ManagedPool managed, VirtualDiskDescription disk)
    {
        try
        {
            ManagedVirtualDisk opened = new(await VirtualDiskStack.Open(managed.Pool!, disk.Id));
            opened.Open.Description = opened.Open.Description with { IsConnected = disk.IsConnected };
            managed.VirtualDisks[disk.Id] = opened;
            managed.Unopened.Remove(disk.Id);
            AttachOpened(opened);
        }
        catch (IOException problem)
        {
            managed.Unopened[disk.Id] = problem.Message;
            _options.Notice($"Virtual disk {disk.FriendlyName} is not open: {problem.Message}");
        }

        return default;
    }

    /// <summary>A virtual disk has been opened: it is exported if it is to be, or it is said why it cannot be.</summary>
    private void AttachOpened(ManagedVirtualDisk disk)
    {
        VirtualDiskDescription description = disk.Open.Description;
        if (disk.Open.Fault != IoError.None)
        {
            _options.Notice($"Virtual disk {description.FriendlyName} is detached: {disk.Open.FaultReason}.");
        }
        else if (description.IsConnected && _options.Network is not null)
        {
            TryStartExport(disk);
        }
    }

    /// <summary>
    /// Whether a pool is open for the first time since the machine started; from now on it is not. Where the mark cannot be read or saved,
    /// the answer is no: then no virtual disk is detached that was attached by hand.
    /// </summary>
    private bool IsFirstSinceBoot(PoolId pool)
    {
        if (!_opened.Add(pool))
        {
            return false;
        }

        byte[] boot = _options.State.BootId.ToByteArray();
        try
        {
            bool isFirst = _options.State.ReadFile(OpenedMark(pool)) is not { } mark || !mark.AsSpan().SequenceEqual(boot);
            if (isFirst)
            {
                _options.State.WriteFile(OpenedMark(pool), boot);
            }

            return isFirst;
        }
        catch (IOException problem)
        {
            _options.Notice($"Storage pool {NameOfPool(pool)}: the mark of its first opening since the machine started failed: {problem.Message}");
            return false;
        }
    }

    private static string OpenedMark(PoolId pool) => $"opened-{pool.Value:N}";

    private void TryStartExport(ManagedVirtualDisk disk)
    {
        try
        {
            StartExport(disk);
        }
        catch (RefusedException refused)
        {
            disk.ExportProblem = refused.Message;
            _options.Notice($"Virtual disk {disk.Open.Description.FriendlyName} is not exported: {refused.Message}");
        }
    }

    private (ManagedPool Pool, ManagedVirtualDisk Disk) TakeUsable(Guid id)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = OpenDisk(id);
        return disk.Open.Fault == IoError.None ? (managed, disk) : throw new RefusedException(
            Refusal.VirtualDiskStateForbids, $"Virtual disk '{disk.Open.Description.FriendlyName}' cannot be used: {disk.Open.FaultReason}.",
            WhatToDoAbout(disk.Open));
    }

    private void RequireOnlyOfItsName(ManagedVirtualDisk disk)
    {
        VirtualDiskDescription description = disk.Open.Description;
        if (_pools.Values.SelectMany(pool => pool.VirtualDisks.Values).Any(other =>
            other != disk && other.IsExported && SameName(other.Open.Description.FriendlyName, description.FriendlyName)))
        {
            throw new RefusedException(
                Refusal.NameTaken, $"Another virtual disk '{description.FriendlyName}' is connected.", "Disconnect it, or give one of the two another name.");
        }
    }

    private void StartExport(ManagedVirtualDisk disk)
    {
        RequireOnlyOfItsName(disk);
        VirtualDiskDescription description = disk.Open.Description;
        string path = Path.Combine(_options.ExportFolder, $"{description.Id.Value:N}.sock");
        NbdServer server = new(_lane, budget: _payload, notice: _options.Notice);
        NbdExport export = new(description.Id.Value, description.FriendlyName, $"TierSpaces virtual disk {description.Id.Value}", disk.Open.Disk, description.IsReadOnly);
        server.Add(export);
        try
        {
            server.ListenUnix(_options.Network ?? throw new RefusedException(Refusal.NotSupported, "This host exports nothing."), path);
        }
        catch (IOException taken)
        {
            throw new RefusedException(Refusal.SocketTaken, $"Virtual disk '{description.FriendlyName}' cannot be exported: {taken.Message}");
        }

        disk.ExportProblem = "";
        disk.Server = server;
        disk.Export = export;
        disk.SocketPath = path;
    }

    private static async LaneTask<Nothing> StopExport(ManagedVirtualDisk disk)
    {
        if (disk.Server is { } server)
        {
            disk.Server = null;
            disk.Export = null;
            disk.SocketPath = "";
            await server.Close();
        }

        return default;
    }

    private (ManagedPool Pool, ManagedVirtualDisk Disk) OpenDisk(Guid id)
    {
        foreach (ManagedPool managed in _pools.Values)
        {
            if (managed.VirtualDisks.TryGetValue(new VirtualDiskId(id), out ManagedVirtualDisk? disk))
            {
                return (managed, disk);
            }

            if (managed.Unopened.TryGetValue(new VirtualDiskId(id), out string? problem) && managed.State?.VirtualDisk(new VirtualDiskId(id)) is { } unopened)
            {
                throw new RefusedException(
                    Refusal.VirtualDiskStateForbids, $"Virtual disk '{unopened.FriendlyName}' could not be opened: {problem}",
                    "Remove the cause, then run Connect-VirtualDisk, which opens it again.");
            }

            if (managed.State?.VirtualDisk(new VirtualDiskId(id)) is { } closed)
            {
                throw new RefusedException(
                    Refusal.PoolStateForbids, $"The storage pool of virtual disk '{closed.FriendlyName}' is not open: {managed.Reason}", "Register its missing disks.");
            }
        }

        throw new RefusedException(Refusal.ObjectNotFound, $"There is no virtual disk {id}.", "Look at Get-VirtualDisk.");
    }

    private VirtualDiskStatus StatusOf(ManagedPool managed, VirtualDiskId id)
    {
        VirtualDiskDescription description = managed.State!.VirtualDisk(id)!;
        ManagedVirtualDisk? disk = managed.VirtualDisks.GetValueOrDefault(id);
        long slab = managed.State.Pool!.Slabs.DataBytes;
        (HealthStatus health, string status, string detached) = StateOf(disk, managed.Pool?.LacksRoomFor(description) == true);
        return new VirtualDiskStatus
        {
            Description = description,
            PoolId = managed.Id.Value,
            AllocatedBytes = description.Parts.Sum(part => (managed.State.Space(part.DataSpace)?.MappedRows ?? 0) * (long)part.NumberOfColumns) * slab,
            FootprintBytes = description.Spaces.Select(managed.State.Space)
                .Sum(static space => (space?.MappedRows ?? 0) * (long)(space?.Description.Positions ?? 0)) * slab,
            Health = health,
            OperationalStatus = status,
            StatusReason = disk is null || managed.Pool is null ? ReasonOfClosed(managed, id) : WhatIsTheMatter(managed, disk),
            DetachedReason = detached,
            SocketPath = disk?.SocketPath ?? "",
            Counters = disk?.Open.Disk.Counters,
            SpaceCounters = disk?.Open.SpaceCounters,
            WriteCache = disk?.Open.Cache is { } cache ? WriteCacheStatus.Of(cache) : null,
            CachePoolName = description.CacheSpace != SpaceId.None ? NameOfPool(description.IsCacheElsewhere ? description.CachePool : managed.Id) : "",
        };
    }

    private string WhatIsTheMatter(ManagedPool managed, ManagedVirtualDisk disk)
    {
        Pool pool = managed.Pool!;
        if (disk.AwaitsDecision)
        {
            return "It is detached until a commit is decided that waits for room on a file system under its storage pool or that of its write cache. Free space there; it is attached by itself then.";
        }

        if (disk.Open.Fault != IoError.None)
        {
            return $"It takes no more requests: {disk.Open.FaultReason} ({disk.Open.Fault}).";
        }

        if (disk.Open.UnreadableReason is { Length: > 0 } unreadable)
        {
            return unreadable;
        }

        if (disk.Open.LacksLog)
        {
            return "No copy of its integrity log is there: nothing is written until a physical disk that holds one is back.";
        }

        if (disk.Open.Lent is { Rings.FullDisk: > 0 } lent)
        {
            string name = lent.Pool.State.Disk(new DiskNumber((ushort)lent.Rings.FullDisk))!.Description.FriendlyName;
            return $"The file system under physical disk '{name}' of its write cache is full: writes wait. Free space there; after a minute they go home.";
        }

        if (disk.Open.FullDisk is > 0 and var full)
        {
            return $"The file system under physical disk '{NameOf(full)}' is full: writes wait. Free space there; after a minute they fail.";
        }

        if (HasLostCache(disk))
        {
            return $"Its write cache takes no writes: {disk.Open.Cache!.StateReason}. Set-VirtualDisk -WriteCacheSize gives it another, or none.";
        }

        if (disk.Open.Cache is { HasLostBlocks: true } losing)
        {
            return $"Its write cache has lost data: {losing.StateReason}.";
        }

        if (disk.Open.LostRanges() is { Count: > 0 } lost)
        {
            return DescribeLost(lost);
        }

        if (pool.LacksRoomFor(disk.Open.Description))
        {
            return CapacityAlert.Describe(pool.State, pool.Allocator);
        }

        int hung = pool.State.Disks.Keys.Select(number => (int)number.Value)
            .FirstOrDefault(number => pool.Disk(new DiskNumber((ushort)number)) is MeteredDisk { IsHung: true });
        return hung > 0 ? $"Physical disk '{NameOf(hung)}' does not answer: what needs it fails until it does."
            : disk.Open.IsDegraded ? DescribeDegraded(managed, disk)
            : disk.ExportProblem.Length > 0 ? $"It is not served: {disk.ExportProblem} Connect-VirtualDisk tries again."
            : "";

        string NameOf(int number) => pool.State.Disk(new DiskNumber((ushort)number))!.Description.FriendlyName;
    }

    private static string DescribeLost(List<(long Offset, long Length)> lost)
    {
        const int shown = 8;
        string ranges = string.Join(", ", lost.Take(shown).Select(static range => $"{range.Length} bytes at offset {range.Offset}"));
        return $"Data that no copy has: {ranges}{(lost.Count > shown ? $" and {lost.Count - shown} ranges more" : "")}. "
            + "Reads of it fail until it is written or unmapped; everything else works. Restore it from a backup.";
    }

    private static bool HasLostCache(ManagedVirtualDisk disk) =>
        disk.Open.Cache is { State: WriteCacheState.Retiring or WriteCacheState.WriteThrough };

    private static (HealthStatus Health, string Status, string Detached) StateOf(ManagedVirtualDisk? disk, bool lacksRoom)
    {
        if (disk is null)
        {
            return (HealthStatus.Unhealthy, "Detached", "Incomplete");
        }

        if (!disk.Open.IsComplete || disk.AwaitsDecision)
        {
            return (HealthStatus.Unhealthy, disk.Open.Fault != IoError.None || disk.AwaitsDecision ? "Detached" : "No Redundancy", "Incomplete");
        }

        bool degraded = disk.Open.IsDegraded;
        bool hasLost = disk.Open.HasLost;
        bool lacks = degraded || lacksRoom || hasLost || disk.Open.FullDisk >= 0 || HasLostCache(disk) || disk.Open.Cache is { HasLostBlocks: true };
        HealthStatus health = lacks ? HealthStatus.Warning : HealthStatus.Healthy;
        return disk.IsExported ? (health, hasLost ? "Error" : degraded ? "Degraded" : lacksRoom ? "Stressed" : "OK", "") : (health, "Detached", "By Policy");
    }
}
