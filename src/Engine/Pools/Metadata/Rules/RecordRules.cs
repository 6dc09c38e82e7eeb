using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Applying one record to the state of a pool: what each kind changes, and what refuses it. Pure.
//
// Invariant
//  1. A record that contradicts the state changes nothing: the result is null, and the reason says what contradicts.

/// <summary>Applies records to the state of a pool: pool, disks, virtual disks, spaces, jobs, sessions, templates, slices.</summary>
internal static class RecordRules
{
    private const int MaxNameLength = 256;
    private const int SessionsMax = 64;   // as many as fit in the checkpoint page of the counters

    /// <summary>The state after a record; null, with a reason, if it is refused.</summary>
    internal static PoolState? Change(PoolState state, MetadataRecord record, ref string reason) => record switch
    {
        PoolCreated r => Create(state, r, ref reason),
        PoolChanged r => ChangePool(state, r, ref reason),
        Counters r => Count(state, r, ref reason),
        DiskAdded r => AddDisk(state, r.Disk, ref reason),
        DiskChanged r => ChangeDisk(state, r.Disk, ref reason),
        DiskRemoved r => RemoveDisk(state, r.Disk, ref reason),
        DiskHeld r => NoteHeld(state, r, ref reason),
        VirtualDiskCreated r => CreateVirtualDisk(state, r.VirtualDisk, ref reason),
        VirtualDiskChanged r => ChangeVirtualDisk(state, r.VirtualDisk, ref reason),
        VirtualDiskRemoved r => RemoveVirtualDisk(state, r.VirtualDisk, ref reason),
        SpaceCreated r => CreateSpace(state, r.Space, ref reason),
        SpaceRemoved r => RowRules.RemoveSpace(state, r.Space, ref reason),
        RowsMapped r => RowRules.MapRows(state, r, ref reason),
        RowsFreed r => RowRules.FreeRows(state, r, ref reason),
        StaleMarked r => RowRules.MarkStale(state, r.Space, r.Entries, static (old, mask) => (ushort)(old | mask), ref reason),
        StaleCleared r => RowRules.MarkStale(state, r.Space, r.Entries, static (old, mask) => (ushort)(old & ~mask), ref reason),
        DiskStale r => RowRules.MarkDisk(state, r, ref reason),
        JobRecord r => ChangeJob(state, r, ref reason),
        SessionOpened r => OpenSession(state, r, ref reason),
        TierTemplateSet r => SetTierTemplate(state, r.Template, ref reason),
        TierTemplateRemoved r => RemoveTierTemplate(state, r.Template, ref reason),
        SlicesMapped r => MapSlices(state, r, ref reason),
        PinSet r => PinRules.SetPin(state, r, ref reason),
        PinRemoved r => PinRules.RemovePin(state, r.Id, ref reason),
        _ => Refuse("its kind is not known", out reason),
    };

    /// <summary>Refuses a record.</summary>
    internal static PoolState? Refuse(string why, out string reason)
    {
        reason = why;
        return null;
    }

    private static bool IsName(string name) => name.Length is >= 1 and <= MaxNameLength;

    private static PoolState? Create(PoolState state, PoolCreated record, ref string reason)
    {
        if (state.Pool is not null)
        {
            return Refuse("the pool exists", out reason);
        }

        return IsName(record.Pool.FriendlyName) && record.Pool.Slabs.IsValid
            ? state with { Pool = record.Pool }
            : Refuse($"name of {record.Pool.FriendlyName.Length} characters, slab of {ByteText.Exact(record.Pool.Slabs.DataBytes)}", out reason);
    }

    private static PoolState? ChangePool(PoolState state, PoolChanged record, ref string reason) =>
        record.Pool.Slabs == state.Pool!.Slabs && IsName(record.Pool.FriendlyName)
            ? state with { Pool = record.Pool }
            : Refuse("the slab size or an impossible name was to be set", out reason);

    private static PoolState? Count(PoolState state, Counters record, ref string reason) =>
        record.NextDisk >= state.Counters.NextDisk && record.NextSpace >= state.Counters.NextSpace
            ? state with { Counters = record }
            : Refuse("numbers would be given twice", out reason);

    private static PoolState? OpenSession(PoolState state, SessionOpened record, ref string reason) =>
        record.Session > (state.Session?.Session ?? 0)
            ? state with { Sessions = [.. state.Sessions.Skip(Math.Max(0, state.Sessions.Length + 1 - SessionsMax)), record] }
            : Refuse($"session {record.Session} is not above {state.Session?.Session}", out reason);

    private static PoolState? ChangeJob(PoolState state, JobRecord record, ref string reason)
    {
        if (record.State.Length > JobRecord.MaxStateBytes)
        {
            return Refuse($"a job state of {record.State.Length} bytes", out reason);
        }

        return state with { Jobs = record.State.Length == 0 ? state.Jobs.Remove(record.Job) : state.Jobs.SetItem(record.Job, record) };
    }

    private static PoolState? SetTierTemplate(PoolState state, TierTemplate template, ref string reason) =>
        template.IsPossible
            ? state with { TierTemplates = state.TierTemplates.SetItem(template.Id, template) }
            : Refuse($"tier template {template.Id} is impossible: {template.NumberOfColumns} columns, {template.NumberOfDataCopies} copies, strips of {ByteText.Exact(template.Interleave)}", out reason);

    private static PoolState? RemoveTierTemplate(PoolState state, Guid id, ref string reason) =>
        state.TierTemplates.ContainsKey(id)
            ? state with { TierTemplates = state.TierTemplates.Remove(id) }
            : Refuse($"there is no tier template {id}", out reason);

    private static PoolState? AddDisk(PoolState state, DiskDescription disk, ref string reason)
    {
        if (disk.Number.Value < state.Counters.NextDisk || disk.Number.Value == ushort.MaxValue)
        {
            return Refuse($"disk number {disk.Number} was given before or is the last one", out reason);
        }

        if (state.Disks.Values.Any(other => other.Description.Id == disk.Id))
        {
            return Refuse($"disk {disk.Id} is a member already", out reason);
        }

        if (!DiskLayout.TryCreate(disk.SizeBytes, state.Pool!.Slabs, out DiskLayout layout, out _) || layout.SlabCount != disk.SlabCount)
        {
            return Refuse($"disk {disk.Number} of {ByteText.Exact(disk.SizeBytes)} does not have {disk.SlabCount} slabs", out reason);
        }

        return !IsPossible(disk)
            ? Refuse($"disk {disk.Number} has an impossible name or usage", out reason)
            : state with
            {
                Disks = state.Disks.Add(disk.Number, new DiskState(disk)),
                Counters = state.Counters with { NextDisk = disk.Number.Value + 1u },
            };
    }

    private static bool IsPossible(DiskDescription disk) => IsName(disk.FriendlyName) && Enum.IsDefined(disk.Usage);

    private static PoolState? ChangeDisk(PoolState state, DiskDescription disk, ref string reason)
    {
        if (state.Disk(disk.Number) is not { } old)
        {
            return Refuse($"there is no disk {disk.Number}", out reason);
        }

        DiskDescription before = old.Description;
        return disk.Id == before.Id && disk.SizeBytes == before.SizeBytes && disk.SlabCount == before.SlabCount && IsPossible(disk)
            ? state with { Disks = state.Disks.SetItem(disk.Number, old.With(disk)) }
            : Refuse($"identity, size or slabs of disk {disk.Number} were to change", out reason);
    }

    private static PoolState? RemoveDisk(PoolState state, DiskNumber number, ref string reason) => state.Disk(number) switch
    {
        null => Refuse($"there is no disk {number}", out reason),
        { UsedSlabs: > 0 and var used } => Refuse($"disk {number} has {used} slabs in use", out reason),
        _ => state with { Disks = state.Disks.Remove(number), Held = state.Held.Remove(number) },
    };

    private static PoolState? NoteHeld(PoolState state, DiskHeld record, ref string reason) =>
        !state.Disks.ContainsKey(record.Disk) ? Refuse($"there is no disk {record.Disk}", out reason)
        : record.Epoch == 0 ? state with { Held = state.Held.Remove(record.Disk) }
        : state with { Held = state.Held.SetItem(record.Disk, record) };

    private static PoolState? CreateVirtualDisk(PoolState state, VirtualDiskDescription disk, ref string reason) =>
        !state.VirtualDisks.ContainsKey(disk.Id) && IsName(disk.FriendlyName)
            ? state with { VirtualDisks = state.VirtualDisks.Add(disk.Id, disk) }
            : Refuse($"virtual disk {disk.Id} exists or has an impossible name", out reason);

    private static PoolState? ChangeVirtualDisk(PoolState state, VirtualDiskDescription disk, ref string reason)
    {
        if (state.VirtualDisk(disk.Id) is not { } old || !IsName(disk.FriendlyName))
        {
            return Refuse($"there is no virtual disk {disk.Id}, or its new name is impossible", out reason);
        }

        return HoldsSlicesOf(state, old, disk) && PinRules.HoldsPins(state, disk)
            ? state with { VirtualDisks = state.VirtualDisks.SetItem(disk.Id, disk) }
            : Refuse($"tiers of virtual disk {disk.Id} that hold slices or pins were to become fewer, smaller or others", out reason);
    }

    private static bool HoldsSlicesOf(PoolState state, VirtualDiskDescription before, VirtualDiskDescription after) => !state.SliceMaps.ContainsKey(before.Id)
        || (after.SliceSize == before.SliceSize && after.Tiers.Length >= before.Tiers.Length
            && before.Tiers.All(tier => after.Part(tier.Number) is { } same && tier.DataSpace == same.DataSpace && tier.SpaceBytes <= same.SpaceBytes));

    private static PoolState? RemoveVirtualDisk(PoolState state, VirtualDiskId id, ref string reason)
    {
        if (!state.VirtualDisks.ContainsKey(id))
        {
            return Refuse($"there is no virtual disk {id}", out reason);
        }

        return state.Spaces.Values.Any(space => space.Description.Owner == id)
            ? Refuse($"virtual disk {id} still has spaces", out reason)
            : state with { VirtualDisks = state.VirtualDisks.Remove(id), SliceMaps = state.SliceMaps.Remove(id), Pins = PinRules.PinsWithout(state, id) };
    }

    private static PoolState? MapSlices(PoolState state, SlicesMapped record, ref string reason)
    {
        if (state.VirtualDisk(record.Disk) is not { IsTiered: true, SliceSize: > 0 } disk)
        {
            return Refuse($"there is no virtual disk {record.Disk} with tiers", out reason);
        }

        if (record.FirstSlice < 0 || record.Entries.Length > SlicesMapped.SlicesMax - record.FirstSlice)
        {
            return Refuse($"slice {record.FirstSlice}+{record.Entries.Length} is beyond the last", out reason);
        }

        long[] slots = [.. disk.Tiers.OrderBy(static tier => tier.Number).Select(tier => tier.Slots(state.Pool!.Slabs.DataBytes, disk.SliceSize))];
        return state.SliceMap(disk.Id).Apply(record, slots, ref reason) is { } map ? state with { SliceMaps = state.SliceMaps.SetItem(disk.Id, map) } : null;
    }

    private static PoolState? CreateSpace(PoolState state, SpaceDescription space, ref string reason)
    {
        if (space.Id.Value < state.Counters.NextSpace || space.Id.Value == uint.MaxValue || !(space.IsRemote || state.VirtualDisks.ContainsKey(space.Owner)))
        {
            return Refuse($"space {space.Id} was there before, or its owner {space.Owner} is not there", out reason);
        }

        return space.Positions is >= 1 and <= SpaceDescription.MaxPositions && Enum.IsDefined(space.Kind)
            && (space.Kind == SpaceKind.WriteCache || !space.IsRemote)
            ? state with
            {
                Spaces = state.Spaces.Add(space.Id, new SpaceState(space)),
                Counters = state.Counters with { NextSpace = space.Id.Value + 1 },
            }
            : Refuse($"space {space.Id} of {space.Columns} columns and {space.Copies} copies", out reason);
    }
}
