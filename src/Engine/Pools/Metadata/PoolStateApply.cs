using System.Diagnostics.CodeAnalysis;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>A metadata record contradicts the state it was to change.</summary>
public sealed class RecordRefusedException(string reason) : Exception(reason);

public sealed partial record PoolState
{
    private const int MaxNameLength = 256;
    private const int SessionsMax = 64;   // as many as fit in the checkpoint page of the counters

    /// <summary>The state after a record.</summary>
    /// <exception cref="RecordRefusedException">The record contradicts this state.</exception>
    public PoolState Apply(MetadataRecord record) =>
        TryApply(record, out PoolState? next, out string reason) ? next : throw new RecordRefusedException(reason);

    /// <summary>The state after a record, or the reason why the record is refused.</summary>
    public bool TryApply(MetadataRecord record, [NotNullWhen(true)] out PoolState? next, out string reason)
    {
        reason = Pool is null && record is not PoolCreated ? "the pool has not been created" : WhyTooLong(record);
        next = reason.Length == 0 ? Change(record, ref reason) : null;
        if (next is null)
        {
            reason = $"{record.Kind} is refused: {reason}.";
            return false;
        }

        return true;
    }

    // What is kept as one record must fit in one checkpoint page.
    private static string WhyTooLong(MetadataRecord record)
    {
        if (record is RowsMapped or StaleMarked or StaleCleared or SlicesMapped)
        {
            return "";
        }

        int length = MetadataCodec.Measure(record);
        return length <= CheckpointPages.LargestRecord ? "" : $"it takes {length} bytes, and at most {CheckpointPages.LargestRecord} are possible";
    }

    private PoolState? Change(MetadataRecord record, ref string reason) => record switch
    {
        PoolCreated r => Create(r, ref reason),
        PoolChanged r => ChangePool(r, ref reason),
        Counters r => Count(r, ref reason),
        DiskAdded r => AddDisk(r.Disk, ref reason),
        DiskChanged r => ChangeDisk(r.Disk, ref reason),
        DiskRemoved r => RemoveDisk(r.Disk, ref reason),
        DiskHeld r => NoteHeld(r, ref reason),
        VirtualDiskCreated r => CreateVirtualDisk(r.VirtualDisk, ref reason),
        VirtualDiskChanged r => ChangeVirtualDisk(r.VirtualDisk, ref reason),
        VirtualDiskRemoved r => RemoveVirtualDisk(r.VirtualDisk, ref reason),
        SpaceCreated r => CreateSpace(r.Space, ref reason),
        SpaceRemoved r => RemoveSpace(r.Space, ref reason),
        RowsMapped r => MapRows(r, ref reason),
        RowsFreed r => FreeRows(r, ref reason),
        StaleMarked r => MarkStale(r.Space, r.Entries, static (old, mask) => (ushort)(old | mask), ref reason),
        StaleCleared r => MarkStale(r.Space, r.Entries, static (old, mask) => (ushort)(old & ~mask), ref reason),
        DiskStale r => MarkDisk(r, ref reason),
        JobRecord r => ChangeJob(r, ref reason),
        SessionOpened r => OpenSession(r, ref reason),
        TierTemplateSet r => SetTierTemplate(r.Template, ref reason),
        TierTemplateRemoved r => RemoveTierTemplate(r.Template, ref reason),
        SlicesMapped r => MapSlices(r, ref reason),
        PinSet r => SetPin(r, ref reason),
        PinRemoved r => RemovePin(r.Id, ref reason),
        _ => Refuse("its kind is not known", out reason),
    };

    private static PoolState? Refuse(string why, out string reason)
    {
        reason = why;
        return null;
    }

    private static bool IsName(string name) => name.Length is >= 1 and <= MaxNameLength;

    private PoolState? Create(PoolCreated record, ref string reason)
    {
        if (Pool is not null)
        {
            return Refuse("the pool exists", out reason);
        }

        return IsName(record.Pool.FriendlyName) && record.Pool.Slabs.IsValid
            ? this with { Pool = record.Pool }
            : Refuse($"name of {record.Pool.FriendlyName.Length} characters, slab of {record.Pool.Slabs.DataBytes} bytes", out reason);
    }

    private PoolState? ChangePool(PoolChanged record, ref string reason) =>
        record.Pool.Slabs == Pool!.Slabs && IsName(record.Pool.FriendlyName)
            ? this with { Pool = record.Pool }
            : Refuse("the slab size or an impossible name was to be set", out reason);

    private PoolState? Count(Counters record, ref string reason) =>
        record.NextDisk >= Counters.NextDisk && record.NextSpace >= Counters.NextSpace
            ? this with { Counters = record }
            : Refuse("numbers would be given twice", out reason);

    private PoolState? OpenSession(SessionOpened record, ref string reason) =>
        record.Session > (Session?.Session ?? 0)
            ? this with { Sessions = [.. Sessions.Skip(Math.Max(0, Sessions.Length + 1 - SessionsMax)), record] }
            : Refuse($"session {record.Session} is not above {Session?.Session}", out reason);

    private PoolState? ChangeJob(JobRecord record, ref string reason)
    {
        if (record.State.Length > JobRecord.MaxStateBytes)
        {
            return Refuse($"a job state of {record.State.Length} bytes", out reason);
        }

        return this with { Jobs = record.State.Length == 0 ? Jobs.Remove(record.Job) : Jobs.SetItem(record.Job, record) };
    }

    private PoolState? SetTierTemplate(TierTemplate template, ref string reason) =>
        template.IsPossible
            ? this with { TierTemplates = TierTemplates.SetItem(template.Id, template) }
            : Refuse($"tier template {template.Id} is impossible: {template.NumberOfColumns} columns, {template.NumberOfDataCopies} copies, strips of {template.Interleave} bytes", out reason);

    private PoolState? RemoveTierTemplate(Guid id, ref string reason) =>
        TierTemplates.ContainsKey(id)
            ? this with { TierTemplates = TierTemplates.Remove(id) }
            : Refuse($"there is no tier template {id}", out reason);

    private PoolState? AddDisk(DiskDescription disk, ref string reason)
    {
        if (disk.Number.Value < Counters.NextDisk || disk.Number.Value == ushort.MaxValue)
        {
            return Refuse($"disk number {disk.Number} was given before or is the last one", out reason);
        }

        if (Disks.Values.Any(other => other.Description.Id == disk.Id))
        {
            return Refuse($"disk {disk.Id} is a member already", out reason);
        }

        if (!DiskLayout.TryCreate(disk.SizeBytes, Pool!.Slabs, out DiskLayout layout, out _) || layout.SlabCount != disk.SlabCount)
        {
            return Refuse($"disk {disk.Number} of {disk.SizeBytes} bytes does not have {disk.SlabCount} slabs", out reason);
        }

        return !IsPossible(disk)
            ? Refuse($"disk {disk.Number} has an impossible name or usage", out reason)
            : this with
            {
                Disks = Disks.Add(disk.Number, new DiskState(disk)),
                Counters = Counters with { NextDisk = disk.Number.Value + 1u },
            };
    }

    private static bool IsPossible(DiskDescription disk) => IsName(disk.FriendlyName) && Enum.IsDefined(disk.Usage);

    private PoolState? ChangeDisk(DiskDescription disk, ref string reason)
    {
        if (Disk(disk.Number) is not { } old)
        {
            return Refuse($"there is no disk {disk.Number}", out reason);
        }

        DiskDescription before = old.Description;
        return disk.Id == before.Id && disk.SizeBytes == before.SizeBytes && disk.SlabCount == before.SlabCount && IsPossible(disk)
            ? this with { Disks = Disks.SetItem(disk.Number, old.With(disk)) }
            : Refuse($"identity, size or slabs of disk {disk.Number} were to change", out reason);
    }

    private PoolState? RemoveDisk(DiskNumber number, ref string reason) => Disk(number) switch
    {
        null => Refuse($"there is no disk {number}", out reason),
        { UsedSlabs: > 0 and var used } => Refuse($"disk {number} has {used} slabs in use", out reason),
        _ => this with { Disks = Disks.Remove(number), Held = Held.Remove(number) },
    };

    private PoolState? NoteHeld(DiskHeld record, ref string reason) =>
        !Disks.ContainsKey(record.Disk) ? Refuse($"there is no disk {record.Disk}", out reason)
        : record.Epoch == 0 ? this with { Held = Held.Remove(record.Disk) }
        : this with { Held = Held.SetItem(record.Disk, record) };

    private PoolState? CreateVirtualDisk(VirtualDiskDescription disk, ref string reason) =>
        !VirtualDisks.ContainsKey(disk.Id) && IsName(disk.FriendlyName)
            ? this with { VirtualDisks = VirtualDisks.Add(disk.Id, disk) }
            : Refuse($"virtual disk {disk.Id} exists or has an impossible name", out reason);

    private PoolState? ChangeVirtualDisk(VirtualDiskDescription disk, ref string reason)
    {
        if (VirtualDisk(disk.Id) is not { } old || !IsName(disk.FriendlyName))
        {
            return Refuse($"there is no virtual disk {disk.Id}, or its new name is impossible", out reason);
        }

        return HoldsSlicesOf(old, disk) && HoldsPins(disk)
            ? this with { VirtualDisks = VirtualDisks.SetItem(disk.Id, disk) }
            : Refuse($"tiers of virtual disk {disk.Id} that hold slices or pins were to become fewer, smaller or others", out reason);
    }

    private bool HoldsSlicesOf(VirtualDiskDescription before, VirtualDiskDescription after) => !SliceMaps.ContainsKey(before.Id)
        || (after.SliceSize == before.SliceSize && after.Tiers.Length >= before.Tiers.Length
            && before.Tiers.All(tier => after.Part(tier.Number) is { } same && tier.DataSpace == same.DataSpace && tier.SpaceBytes <= same.SpaceBytes));

    private PoolState? RemoveVirtualDisk(VirtualDiskId id, ref string reason)
    {
        if (!VirtualDisks.ContainsKey(id))
        {
            return Refuse($"there is no virtual disk {id}", out reason);
        }

        return Spaces.Values.Any(space => space.Description.Owner == id)
            ? Refuse($"virtual disk {id} still has spaces", out reason)
            : this with { VirtualDisks = VirtualDisks.Remove(id), SliceMaps = SliceMaps.Remove(id), Pins = PinsWithout(id) };
    }

    private PoolState? MapSlices(SlicesMapped record, ref string reason)
    {
        if (VirtualDisk(record.Disk) is not { IsTiered: true, SliceSize: > 0 } disk)
        {
            return Refuse($"there is no virtual disk {record.Disk} with tiers", out reason);
        }

        if (record.FirstSlice < 0 || record.Entries.Length > SlicesMapped.SlicesMax - record.FirstSlice)
        {
            return Refuse($"slice {record.FirstSlice}+{record.Entries.Length} is beyond the last", out reason);
        }

        long[] slots = [.. disk.Tiers.OrderBy(static tier => tier.Number).Select(tier => tier.SpaceBytes / disk.SliceSize)];
        return SliceMap(disk.Id).Apply(record, slots, ref reason) is { } map ? this with { SliceMaps = SliceMaps.SetItem(disk.Id, map) } : null;
    }

    private PoolState? CreateSpace(SpaceDescription space, ref string reason)
    {
        if (space.Id.Value < Counters.NextSpace || space.Id.Value == uint.MaxValue || !(space.IsLent || VirtualDisks.ContainsKey(space.Owner)))
        {
            return Refuse($"space {space.Id} was there before, or its owner {space.Owner} is not there", out reason);
        }

        return space.Positions is >= 1 and <= SpaceDescription.MaxPositions && Enum.IsDefined(space.Kind) && (space.Kind == SpaceKind.WriteCache || !space.IsLent)
            ? this with
            {
                Spaces = Spaces.Add(space.Id, new SpaceState(space)),
                Counters = Counters with { NextSpace = space.Id.Value + 1 },
            }
            : Refuse($"space {space.Id} of {space.Columns} columns and {space.Copies} copies", out reason);
    }
}
