using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>Turns lost blocks of the spaces of a virtual disk into ranges of the virtual disk.</summary>
internal static class LostBlockRanges
{
    /// <summary>Returns the ranges in their order. Blocks of slots that no slice of the virtual disk is in are left out.</summary>
    /// <param name="lost">Addresses of the blocks in the space of each part, by number of the part.</param>
    /// <param name="disk">The virtual disk.</param>
    /// <param name="slices">Places of its slices, if it has tiers.</param>
    internal static List<(long Offset, long Length)> Of(
        IReadOnlyList<(int Part, long[] Addresses)> lost, VirtualDiskDescription disk, SliceMapState slices)
    {
        List<(long Offset, long Length)> ranges = [];
        foreach (long offset in (disk.IsTiered ? OffsetsOf(lost, (int)disk.SliceSize, slices) : lost.SelectMany(static part => part.Addresses)).Order())
        {
            if (ranges.Count > 0 && ranges[^1].Offset + ranges[^1].Length == offset)
            {
                ranges[^1] = (ranges[^1].Offset, ranges[^1].Length + SpaceShape.BlockSize);
            }
            else
            {
                ranges.Add((offset, SpaceShape.BlockSize));
            }
        }

        return ranges;
    }

    private static IEnumerable<long> OffsetsOf(IReadOnlyList<(int Part, long[] Addresses)> lost, int sliceSize, SliceMapState slices)
    {
        SliceGrid grid = new(sliceSize);
        ILookup<(int Tier, uint Slot), long> bySlot = lost.SelectMany(static part => part.Addresses.Select(address => (part.Part, Address: address)))
            .ToLookup(block => (block.Part, (uint)grid.IndexOf(block.Address)), block => grid.Within(block.Address));
        return bySlot.Count == 0 ? [] : slices.Enumerate().Where(static slice => slice.Slice < SlicesMapped.SystemSlices)
            .SelectMany(slice => bySlot[(slice.Entry.Tier, slice.Entry.Slot)].Select(within => grid.StartOf(slice.Slice) + within));
    }
}
