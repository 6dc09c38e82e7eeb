using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

// Pages of the metadata area that virtual disks need once everything in them is mapped.
//
// A virtual disk is made or grown only if the metadata can describe it in full, beside all that is promised: the rows and slices that thin
// virtual disks may still map. Thin virtual disks map rows in any order, so each row counts as if no other were in its leaf. The free slabs of the
// pool bound their sum: a thin virtual disk may be larger than the pool.
//
// Invariant: the demand never falls when a size rises, so the largest size is found by halving.

/// <summary>Counts pages of the metadata area before virtual disks are made or grown.</summary>
/// <param name="pool">The pool.</param>
internal sealed class MetadataRoom(IPoolReader pool)
{
    private readonly PoolState _state = pool.State;
    private readonly (long Used, long Most) _pages = pool.MetadataPages;
    private readonly long _freeSlabs = pool.State.Disks.Values.Sum(static disk => (long)disk.FreeSlabs);

    /// <summary>Whether a virtual disk as it would be after a change can be described in full.</summary>
    internal bool Holds(VirtualDiskDescription after) => _pages.Most == 0 || PagesWith(after) <= _pages.Most;

    /// <summary>Returns the reason why a virtual disk cannot be as described; empty if it can.</summary>
    internal string WhyNot(VirtualDiskDescription after) => Holds(after) ? "" :
        $"{Describe()} With every row of it mapped, {PagesWith(after)} pages would be taken. Give a smaller size, or remove virtual disks.";

    /// <summary>Describes the use of the metadata area, in words.</summary>
    internal string Describe() =>
        $"The metadata area of storage pool '{_state.Pool!.FriendlyName}' has {_pages.Most} pages, of which {_pages.Used} are in use and {PagesWith(null) - _pages.Used} kept for first writes of thin virtual disks.";

    /// <summary>The largest number from 0 to <paramref name="most"/> for which the virtual disk can be described in full; 0 also where none can.</summary>
    /// <param name="most">Largest number asked for.</param>
    /// <param name="at">The virtual disk of a number; it grows with it.</param>
    internal long Largest(long most, Func<long, VirtualDiskDescription> at)
    {
        long low = 0;
        long high = Math.Max(0, most);
        while (low < high)
        {
            long middle = low + ((high - low + 1) / 2);
            (low, high) = Holds(at(middle)) ? (middle, high) : (low, middle - 1);
        }

        return low;
    }

    private long PagesWith(VirtualDiskDescription? after)
    {
        PageDemand mapped = default;
        foreach (SpaceState space in _state.Spaces.Values)
        {
            mapped += space.Demand;
        }

        Promise thin = new(_state, _freeSlabs);
        foreach (VirtualDiskDescription disk in _state.VirtualDisks.Values.Where(
            disk => disk.Id != after?.Id && disk.ProvisioningType == ProvisioningType.Thin))
        {
            thin.Add(disk);
        }

        Promise own = new(_state, long.MaxValue);
        long rings = 0;
        long descriptions = 0;
        if (after is not null)
        {
            (after.ProvisioningType == ProvisioningType.Thin ? thin : own).Add(after);
            rings = RingsOf(after).Bytes;
            descriptions = DescriptionPages(after);
        }

        long rows = mapped.Bytes + rings + thin.RowBytes + own.RowBytes;
        return _pages.Used - mapped.Pages + PageDemand.PagesOf(rows) + thin.SlicePages + own.SlicePages + descriptions;
    }

    // A page of each kind of record that is added: the records may just not fit in the last one.
    private int DescriptionPages(VirtualDiskDescription after) =>
        _state.VirtualDisk(after.Id) is { } before && before.Parts.Length == after.Parts.Length ? 0 : 2;

    /// <summary>Returns the pages of logs and of a write cache that do not exist yet.</summary>
    private PageDemand RingsOf(VirtualDiskDescription after)
    {
        PageDemand rings = default;
        foreach (TierDescription part in after.Parts.Where(part => part.LogSpace != SpaceId.None && _state.Space(part.LogSpace) is null))
        {
            int copies = VirtualDiskLayout.LogCopies(part.RingCopies, _state.Disks.Count);
            rings += PageDemand.OfRows(new RowPages(copies), VirtualDiskLayout.LogRows(pool.Slabs, part));
        }

        bool hasNewCache = after is { WriteCacheSize: > 0, IsCacheElsewhere: false } && _state.Space(after.CacheSpace) is null;
        return hasNewCache ? rings + PageDemand.OfRows(new RowPages(after.CacheCopies), after.WriteCacheSize / pool.Slabs.DataBytes) : rings;
    }

    /// <summary>Metadata of the rows and slices that virtual disks may still map, as far as there are free slabs.</summary>
    private sealed class Promise(PoolState state, long freeSlabs)
    {
        private readonly long _slabBytes = state.Pool!.Slabs.DataBytes;
        private long _rowBytes;
        private double _bytesPerSlab;

        /// <summary>Pages of slice maps.</summary>
        internal long SlicePages { get; private set; }

        /// <summary>Bytes of rows, as a <see cref="PageDemand"/> counts them.</summary>
        internal long RowBytes => (long)Math.Min(_rowBytes, Math.Ceiling(freeSlabs * _bytesPerSlab));

        internal void Add(VirtualDiskDescription disk)
        {
            foreach (TierDescription part in disk.Parts)
            {
                int positions = part.NumberOfColumns * part.NumberOfDataCopies;
                RowPages pages = new(positions);
                long rowSize = VirtualDiskLayout.ShapeOf(state.Pool!.Slabs, disk, part).RowSize;
                PageDemand full = PageDemand.OfRows(pages, (part.SpaceBytes + rowSize - 1) / rowSize);
                _rowBytes += Math.Max(0, full.Bytes - (state.Space(part.DataSpace)?.Demand.Bytes ?? 0));
                _bytesPerSlab = Math.Max(_bytesPerSlab, (double)pages.Bytes(1) / positions);
            }

            if (disk.IsTiered)
            {
                // Each slice may be the first in its leaf. The slots that the store keeps for itself take a leaf more for each that they fill.
                long leaves = disk.Tiers.Sum(tier => (tier.SpaceBytes / disk.SliceSize / CheckpointPages.SlicesPerPage) + 1) + 1;
                long free = freeSlabs == long.MaxValue ? long.MaxValue : freeSlabs * (_slabBytes / disk.SliceSize);
                SlicePages += Math.Min(Math.Max(0, leaves - state.SliceMap(disk.Id).PagesMax), free);
            }
        }
    }
}
