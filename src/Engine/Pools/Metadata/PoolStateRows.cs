using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Rows and slabs: the part of the state machine that owns invariants 1 and 2.

public sealed partial record PoolState
{
    private PoolState? RemoveSpace(SpaceId id, ref string reason)
    {
        if (Space(id) is not { } space)
        {
            return Refuse($"there is no space {id}", out reason);
        }

        SlabChanges slabs = new(this);
        foreach ((_, RowState row) in space.EnumerateRows())
        {
            slabs.Free(row.Mapping);
        }

        return this with { Spaces = Spaces.Remove(id), Disks = slabs.Apply() };
    }

    private PoolState? MapRows(RowsMapped record, ref string reason)
    {
        if (Space(record.Space) is not { } space || space.Description.Positions != record.Positions)
        {
            return Refuse($"there is no space {record.Space} with {record.Positions} positions", out reason);
        }

        if (record.FirstRow < 0 || record.Rows.Length > SpaceDescription.MaxRows - record.FirstRow)
        {
            return Refuse($"row {record.FirstRow}+{record.Rows.Length} is beyond the last", out reason);
        }

        SlabChanges slabs = new(this);
        for (int i = 0; i < record.Rows.Length; i++)
        {
            RowState? old = space.Row(record.FirstRow + i);
            RowMapping row = record.Rows[i];
            if (old is not null)
            {
                slabs.Free(old.Mapping);
            }

            if (row.Sources.Length != record.Positions)
            {
                return Refuse($"a row has {row.Sources.Length} sources, not {record.Positions}", out reason);
            }

            if (!slabs.TryUse(row, ref reason))
            {
                return null;
            }

            space = space.WithRow(record.FirstRow + i, old?.With(row) ?? new RowState(row));
        }

        return this with { Spaces = Spaces.SetItem(record.Space, space), Disks = slabs.Apply() };
    }

    private PoolState? FreeRows(RowsFreed record, ref string reason)
    {
        if (Space(record.Space) is not { } space)
        {
            return Refuse($"there is no space {record.Space}", out reason);
        }

        SlabChanges slabs = new(this);
        for (int i = 0; i < record.Count; i++)
        {
            if (space.Row(record.FirstRow + i) is not { } row)
            {
                return Refuse($"row {record.FirstRow + i} of space {record.Space} has no slabs", out reason);
            }

            slabs.Free(row.Mapping);
            space = space.WithRow(record.FirstRow + i, null);
        }

        return this with { Spaces = Spaces.SetItem(record.Space, space), Disks = slabs.Apply() };
    }

    private PoolState? MarkStale(SpaceId id, StaleEntry[] entries, Func<ushort, ushort, ushort> combine, ref string reason)
    {
        if (Space(id) is not { } space)
        {
            return Refuse($"there is no space {id}", out reason);
        }

        foreach (StaleEntry entry in entries)
        {
            if (space.Row(entry.Row) is not { } row || entry.Position >= space.Description.Positions)
            {
                return Refuse($"space {id} has no row {entry.Row} with position {entry.Position}", out reason);
            }

            space = space.WithRow(entry.Row, row.WithStale(entry.Position, combine(row.Stale(entry.Position), entry.Regions)));
        }

        return this with { Spaces = Spaces.SetItem(id, space) };
    }

    private PoolState? MarkDisk(DiskStale record, ref string reason)
    {
        if (Space(record.Space) is not { } space || !Disks.ContainsKey(record.Disk))
        {
            return Refuse($"there is no space {record.Space} or no disk {record.Disk}", out reason);
        }

        foreach ((int index, RowState row) in Spaces[record.Space].EnumerateRows())
        {
            for (int position = 0; position < row.Mapping.Sources.Length; position++)
            {
                if (row.Mapping.Sources[position].Disk == record.Disk)
                {
                    space = space.WithRow(index, space.Row(index)!.WithStale(position, ushort.MaxValue));
                }
            }
        }

        return this with { Spaces = Spaces.SetItem(record.Space, space) };
    }
}
