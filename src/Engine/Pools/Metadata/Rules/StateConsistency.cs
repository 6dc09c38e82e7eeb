using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// The checks of a whole state, after the last record: whether its objects fit each other. The layers above build on a state that passes
// and check no shape, size or reference in it again. Pure.

/// <summary>Checks whether the objects of a pool's state fit each other.</summary>
internal static class StateConsistency
{
    private const int MaxColumns = 64;
    private const int MaxCopies = 3;
    private const uint SmallestInterleave = 16 << 10;
    private const uint LargestInterleave = 16 << 20;
    private const uint SmallestSlice = 256 << 10;
    private const uint LargestSlice = 16 << 20;

    /// <summary>Returns the objects of a state that do not fit each other, in words; empty if all do.</summary>
    internal static string WhyInconsistent(PoolState state) => state.Pool is null
        ? "The pool has no description."
        : state.VirtualDisks.Values.Select(disk => WhyImpossible(state, disk)).FirstOrDefault(static why => why.Length > 0) ?? "";

    private static string WhyImpossible(PoolState state, VirtualDiskDescription disk)
    {
        foreach (SpaceId space in disk.Spaces)
        {
            if (state.Space(space)?.Description.Owner != disk.Id)
            {
                return $"Virtual disk {disk.FriendlyName} names space {space}, which is not its own.";
            }
        }

        string why = disk.IsBeingCreated ? "" : WhyShapeless(state, disk);
        why = why.Length > 0 || disk.IsBeingCreated ? why : WhySpacesUnfit(state, disk);
        return why.Length == 0 ? "" : $"Virtual disk {disk.FriendlyName} cannot be: {why}.";
    }

    private static string WhyShapeless(PoolState state, VirtualDiskDescription disk)
    {
        string why = disk.Parts.Select(part => WhyShapeless(state, part)).FirstOrDefault(static why => why.Length > 0) ?? "";
        if (why.Length > 0)
        {
            return why;
        }

        if (disk.IsTiered && WhyTiersUnfit(state, disk) is { Length: > 0 } unfit)
        {
            return unfit;
        }

        if (!disk.Destage.IsPossible)
        {
            return $"destage settings of {disk.Destage}";
        }

        if (!disk.TierSettings.IsPossible)
        {
            return $"tier settings of {disk.TierSettings}";
        }

        return disk.LogicalSectorSize is 512 or 4096 && Enum.IsDefined(disk.Checksum) && Enum.IsDefined(disk.ProvisioningType)
            ? ""
            : $"sectors of {disk.LogicalSectorSize} bytes, checksums {disk.Checksum}, provisioning {disk.ProvisioningType}";
    }

    private static string WhyShapeless(PoolState state, TierDescription part)
    {
        long slab = state.Pool!.Slabs.DataBytes;
        bool isParity = part.ResiliencySettingName == TierDescription.ParityName;
        if (part.NumberOfColumns is < 1 or > MaxColumns || part.NumberOfDataCopies is < 1 or > MaxCopies
            || (isParity && (part.NumberOfDataCopies > 1 || part.Parities is not (1 or 2) || part.DataColumns < 2)))
        {
            return $"{part.NumberOfColumns} columns and {part.NumberOfDataCopies} copies{(isParity ? $" with {part.PhysicalDiskRedundancy} parities" : "")}";
        }

        if (!BitOperations.IsPow2(part.Interleave) || part.Interleave is < SmallestInterleave or > LargestInterleave || part.Interleave > slab)
        {
            return $"an interleave of {ByteText.Exact(part.Interleave)} in slabs of {ByteText.Exact(slab)}";
        }

        if (isParity && part.Interleave > ParityGeometry.InterleaveMax(slab))
        {
            return $"an interleave of {ByteText.Exact(part.Interleave)} with parity in slabs of {ByteText.Exact(slab)}";
        }

        return part.SizeBytes < 1 || part.SpaceBytes < part.SizeBytes || (part.SpaceBytes - 1) / (part.DataColumns * slab) >= SpaceDescription.MaxRows
            ? $"a size of {ByteText.Exact(part.SizeBytes)} in {ByteText.Exact(part.SpaceBytes)}" : "";
    }

    private static string WhyTiersUnfit(PoolState state, VirtualDiskDescription disk)
    {
        if (!BitOperations.IsPow2(disk.SliceSize) || disk.SliceSize is < SmallestSlice or > LargestSlice || disk.SliceSize > state.Pool!.Slabs.DataBytes)
        {
            return $"slices of {ByteText.Exact(disk.SliceSize)} in slabs of {ByteText.Exact(state.Pool!.Slabs.DataBytes)}";
        }

        bool fits = disk.Tiers.Length <= SliceEntry.TiersMax && disk.SizeBytes / disk.SliceSize < SlicesMapped.SlicesMax / 2
            && disk.SizeBytes == disk.Tiers.Sum(static tier => (decimal)tier.SizeBytes)
            && disk.Tiers.All(tier =>
                tier.SizeBytes % disk.SliceSize == 0 && tier.SizeBytes / disk.SliceSize <= tier.Slots(state.Pool!.Slabs.DataBytes, disk.SliceSize)
                && tier.SpaceBytes / disk.SliceSize <= uint.MaxValue && (tier.Parities > 0 || tier.SpaceBytes % disk.SliceSize == 0));
        bool isNumbered = disk.Tiers.Select(static tier => tier.Number).Order().SequenceEqual(Enumerable.Range(0, disk.Tiers.Length))
            && disk.Tiers.Zip(disk.Tiers.Skip(1)).All(static pair => pair.First.MediaTypeCode >= pair.Second.MediaTypeCode);
        return !isNumbered ? "tiers that are not numbered from 0, or not the fastest first"
            : fits ? "" : $"{disk.Tiers.Length} tiers for {ByteText.Exact(disk.SizeBytes)} in slices of {ByteText.Exact(disk.SliceSize)}";
    }

    private static string WhySpacesUnfit(PoolState state, VirtualDiskDescription disk)
    {
        foreach (TierDescription part in disk.Parts)
        {
            if (state.Space(part.DataSpace)?.Description is not { Kind: SpaceKind.Data } data
                || data.Columns != part.NumberOfColumns || data.Copies != part.NumberOfDataCopies)
            {
                return $"space {part.DataSpace} is not of its shape";
            }

            if (WhyLogUnfit(state, disk.Checksum, part) is { Length: > 0 } why)
            {
                return why;
            }
        }

        return WhyCacheUnfit(state, disk);
    }

    private static string WhyLogUnfit(PoolState state, ChecksumKind checksum, TierDescription part)
    {
        if (checksum == ChecksumKind.None && part.Parities > 0)
        {
            return "parity without checksums";
        }

        if (checksum == ChecksumKind.None && part.RingCopies == 1)
        {
            return "";   // needs no log
        }

        return state.Space(part.LogSpace) is { Description: { Kind: SpaceKind.IntegrityLog, Columns: 1, Copies: <= MaxCopies }, MappedRows: > 0
            and var rows } log
            && log.Row(rows - 1) is not null
                ? ""
                : $"space {part.LogSpace} is no integrity log, or has gaps";
    }

    private static string WhyCacheUnfit(PoolState state, VirtualDiskDescription disk)
    {
        if (disk.CacheSpace == SpaceId.None)
        {
            return disk.WriteCacheSize == 0 ? "" : $"a write cache of {ByteText.Exact(disk.WriteCacheSize)} without a space";
        }

        if (disk.IsCacheElsewhere)
        {
            return disk.WriteCacheSize > 0 ? "" : "a write cache of 0 bytes elsewhere";   // the rest is asked of the other pool when the disk is opened
        }

        return state.Space(disk.CacheSpace) is { Description: { Kind: SpaceKind.WriteCache, Columns: 1, IsRemote: false } description, MappedRows: > 0
            and var rows } cache
            && description.Copies == disk.CacheCopies && cache.Row(rows - 1) is not null
            && disk.WriteCacheSize == rows * state.Pool!.Slabs.DataBytes
                ? ""
                : $"space {disk.CacheSpace} is no write cache of {ByteText.Exact(disk.WriteCacheSize)}, or has gaps";
    }
}
