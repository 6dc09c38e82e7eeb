using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// What is asked of a whole state, after the last record: whether objects fit each other. A state that fits is one that every storey above
// can be built on: no shape, size or reference in it needs to be doubted again.

public sealed partial record PoolState
{
    private const int MaxColumns = 64;
    private const int MaxCopies = 3;
    private const uint SmallestInterleave = 16 << 10;
    private const uint LargestInterleave = 16 << 20;

    /// <summary>Whether objects of the state fit each other, or which do not.</summary>
    public bool IsConsistent(out string reason)
    {
        reason = Pool is null
            ? "The pool has no description."
            : VirtualDisks.Values.Select(WhyImpossible).FirstOrDefault(static why => why.Length > 0) ?? "";
        return reason.Length == 0;
    }

    private string WhyImpossible(VirtualDiskDescription disk)
    {
        foreach (SpaceId space in (ReadOnlySpan<SpaceId>)[disk.DataSpace, disk.LogSpace, disk.CacheSpace])
        {
            if (space != SpaceId.None && Space(space)?.Description.Owner != disk.Id)
            {
                return $"Virtual disk {disk.FriendlyName} names space {space}, which is not its own.";
            }
        }

        string why = disk.IsBeingCreated ? "" : WhyShapeless(disk);
        why = why.Length > 0 || disk.IsBeingCreated ? why : WhySpacesUnfit(disk);
        return why.Length == 0 ? "" : $"Virtual disk {disk.FriendlyName} cannot be: {why}.";
    }

    private string WhyShapeless(VirtualDiskDescription disk)
    {
        long slab = Pool!.Slabs.DataBytes;
        if (disk.NumberOfColumns is < 1 or > MaxColumns || disk.NumberOfDataCopies is < 1 or > MaxCopies)
        {
            return $"{disk.NumberOfColumns} columns and {disk.NumberOfDataCopies} copies";
        }

        if (!BitOperations.IsPow2(disk.Interleave) || disk.Interleave is < SmallestInterleave or > LargestInterleave || disk.Interleave > slab)
        {
            return $"an interleave of {disk.Interleave} bytes in slabs of {slab}";
        }

        if (disk.SizeBytes < 1 || (disk.SizeBytes - 1) / (disk.NumberOfColumns * slab) >= SpaceDescription.MaxRows)
        {
            return $"a size of {disk.SizeBytes} bytes";
        }

        if (!disk.Destage.IsPossible)
        {
            return $"destage settings of {disk.Destage}";
        }

        return disk.LogicalSectorSize is 512 or 4096 && Enum.IsDefined(disk.Checksum) && Enum.IsDefined(disk.ProvisioningType)
            ? ""
            : $"sectors of {disk.LogicalSectorSize} bytes, checksums {disk.Checksum}, provisioning {disk.ProvisioningType}";
    }

    private string WhySpacesUnfit(VirtualDiskDescription disk)
    {
        if (Space(disk.DataSpace)?.Description is not { Kind: SpaceKind.Data } data
            || data.Columns != disk.NumberOfColumns || data.Copies != disk.NumberOfDataCopies)
        {
            return $"space {disk.DataSpace} is not of its shape";
        }

        return WhyLogUnfit(disk) is { Length: > 0 } why ? why : WhyCacheUnfit(disk);
    }

    private string WhyLogUnfit(VirtualDiskDescription disk)
    {
        if (disk.Checksum == ChecksumKind.None && disk.NumberOfDataCopies == 1)
        {
            return "";   // needs no log
        }

        return Space(disk.LogSpace) is { Description: { Kind: SpaceKind.IntegrityLog, Columns: 1, Copies: <= MaxCopies }, MappedRows: > 0 and var rows } log
            && log.Row(rows - 1) is not null
                ? ""
                : $"space {disk.LogSpace} is no integrity log, or has gaps";
    }

    private string WhyCacheUnfit(VirtualDiskDescription disk)
    {
        if (disk.CacheSpace == SpaceId.None)
        {
            return disk.WriteCacheSize == 0 ? "" : $"a write cache of {disk.WriteCacheSize} bytes without a space";
        }

        return Space(disk.CacheSpace) is { Description: { Kind: SpaceKind.WriteCache, Columns: 1 } description, MappedRows: > 0 and var rows } cache
            && description.Copies == disk.NumberOfDataCopies && cache.Row(rows - 1) is not null
            && disk.WriteCacheSize == rows * Pool!.Slabs.DataBytes
                ? ""
                : $"space {disk.CacheSpace} is no write cache of {disk.WriteCacheSize} bytes, or has gaps";
    }
}
