using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// The records of rows, slabs and stale regions. These rules own invariants 1 and 2 of PoolState.

/// <summary>Applies records of rows, slabs and stale regions to the state of a pool.</summary>
internal static class RowRules
{
    internal static PoolState? RemoveSpace(PoolState state, SpaceId id, ref string reason)
    {
        if (state.Space(id) is not { } space)
        {
            return RecordRules.Refuse($"there is no space {id}", out reason);
        }

        SlabChanges slabs = new(state);
        foreach ((_, RowState row) in space.EnumerateRows())
        {
            slabs.Free(row.Mapping);
        }

        return state with { Spaces = state.Spaces.Remove(id), Disks = slabs.Apply() };
    }

    internal static PoolState? MapRows(PoolState state, RowsMapped record, ref string reason)
    {
        if (state.Space(record.Space) is not { } space || space.Description.Positions != record.Positions)
        {
            return RecordRules.Refuse($"there is no space {record.Space} with {record.Positions} positions", out reason);
        }

        if (record.FirstRow < 0 || record.Rows.Length > SpaceDescription.MaxRows - record.FirstRow)
        {
            return RecordRules.Refuse($"row {record.FirstRow}+{record.Rows.Length} is beyond the last", out reason);
        }

        SlabChanges slabs = new(state);
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
                return RecordRules.Refuse($"a row has {row.Sources.Length} sources, not {record.Positions}", out reason);
            }

            if (!slabs.TryUse(row, ref reason))
            {
                return null;
            }

            space = space.WithRow(record.FirstRow + i, old?.With(row) ?? new RowState(row));
        }

        return state with { Spaces = state.Spaces.SetItem(record.Space, space), Disks = slabs.Apply() };
    }

    internal static PoolState? FreeRows(PoolState state, RowsFreed record, ref string reason)
    {
        if (state.Space(record.Space) is not { } space)
        {
            return RecordRules.Refuse($"there is no space {record.Space}", out reason);
        }

        SlabChanges slabs = new(state);
        for (int i = 0; i < record.Count; i++)
        {
            if (space.Row(record.FirstRow + i) is not { } row)
            {
                return RecordRules.Refuse($"row {record.FirstRow + i} of space {record.Space} has no slabs", out reason);
            }

            slabs.Free(row.Mapping);
            space = space.WithRow(record.FirstRow + i, null);
        }

        return state with { Spaces = state.Spaces.SetItem(record.Space, space), Disks = slabs.Apply() };
    }

    internal static PoolState? MarkStale(PoolState state, SpaceId id, StaleEntry[] entries, Func<ushort, ushort, ushort> combine, ref string reason)
    {
        if (state.Space(id) is not { } space)
        {
            return RecordRules.Refuse($"there is no space {id}", out reason);
        }

        foreach (StaleEntry entry in entries)
        {
            if (space.Row(entry.Row) is not { } row || entry.Position >= space.Description.Positions)
            {
                return RecordRules.Refuse($"space {id} has no row {entry.Row} with position {entry.Position}", out reason);
            }

            space = space.WithRow(entry.Row, row.WithStale(entry.Position, combine(row.Stale(entry.Position), entry.Regions)));
        }

        return state with { Spaces = state.Spaces.SetItem(id, space) };
    }

    internal static PoolState? MarkDisk(PoolState state, DiskStale record, ref string reason)
    {
        if (state.Space(record.Space) is not { } space || !state.Disks.ContainsKey(record.Disk))
        {
            return RecordRules.Refuse($"there is no space {record.Space} or no disk {record.Disk}", out reason);
        }

        foreach ((int index, RowState row) in state.Spaces[record.Space].EnumerateRows())
        {
            for (int position = 0; position < row.Mapping.Sources.Length; position++)
            {
                if (row.Mapping.Sources[position].Disk == record.Disk)
                {
                    space = space.WithRow(index, space.Row(index)!.WithStale(position, ushort.MaxValue));
                }
            }
        }

        return state with { Spaces = state.Spaces.SetItem(record.Space, space) };
    }
}
