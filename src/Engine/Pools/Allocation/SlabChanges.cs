using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>Slabs taken and freed while one record is applied; the state they start from is not touched.</summary>
internal sealed class SlabChanges(PoolState state)
{
    private readonly Dictionary<DiskNumber, DiskState> _changed = [];

    /// <summary>Frees every slab of a row that the state holds.</summary>
    internal void Free(RowMapping row)
    {
        for (int i = 0; i < row.Sources.Length; i++)
        {
            Set(row.Sources[i], false);
            if (!row.Joining(i).IsNone)
            {
                Set(row.Joining(i), false);
            }
        }
    }

    /// <summary>Takes every slab of a row, or says which of them cannot be had.</summary>
    internal bool TryUse(RowMapping row, ref string reason)
    {
        for (int i = 0; i < row.Sources.Length; i++)
        {
            for (int j = 0; j < i; j++)
            {
                if (row.Sources[i].Disk == row.Sources[j].Disk)
                {
                    reason = $"a row has disk {row.Sources[i].Disk} twice";
                    return false;
                }
            }

            if (!TryUse(row.Sources[i], ref reason) || (!row.Joining(i).IsNone && !TryUse(row.Joining(i), ref reason)))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>The disks of the state with these changes.</summary>
    internal ImmutableSortedDictionary<DiskNumber, DiskState> Apply() => state.Disks.SetItems(_changed);

    private DiskState? Disk(DiskNumber number) =>
        _changed.TryGetValue(number, out DiskState? disk) ? disk : state.Disk(number);

    private bool TryUse(SlabRef slab, ref string reason)
    {
        if (Disk(slab.Disk) is not { } disk || slab.Slab >= disk.Description.SlabCount)
        {
            reason = $"there is no slab {slab}";
            return false;
        }

        if (disk.IsUsed(slab.Slab))
        {
            reason = $"slab {slab} is in use";
            return false;
        }

        Set(slab, true);
        return true;
    }

    private void Set(SlabRef slab, bool used) => _changed[slab.Disk] = Disk(slab.Disk)!.WithSlab(slab.Slab, used);
}
