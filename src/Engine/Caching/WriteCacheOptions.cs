using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

/// <summary>Everything a write cache is opened with.</summary>
public sealed record WriteCacheOptions
{
    /// <summary>Owner id in its records.</summary>
    public required Guid Owner { get; init; }

    /// <summary>Per copy, the slabs that follow each other in the ring; each copy on a disk of its own.</summary>
    public required IReadOnlyList<IReadOnlyList<SlabPlace>> Copies { get; init; }

    /// <summary>Copies that miss records, bit per copy: nothing is recovered from them. All of them: the cache was given up.</summary>
    public required int StaleCopies { get; init; }

    /// <summary>Length of the ring in bytes, anchors included; a multiple of 4096, at least 64 KiB.</summary>
    public required long Length { get; init; }

    /// <summary>Blocks of 4 KiB of the ring after which a summary is written; 0: none are written, so that older releases can read the ring.</summary>
    public int SummaryEveryBlocks { get; init; }

    /// <summary>Settings that control when and how fast data is destaged.</summary>
    public required DestageSettings Destage { get; init; }

    /// <summary>Records durably that a copy misses records.</summary>
    public required Func<int, LaneTask<IoError>> MarkStale { get; init; }

    /// <summary>Records durably that a copy is whole again.</summary>
    public required Func<int, LaneTask<IoError>> ClearStale { get; init; }

    /// <summary>Storage of the ring; null: the backing store.</summary>
    internal IRingStorage? RingStorage { get; init; }

    /// <summary>Rank of the medium of a disk of the backing store. A write to disks as fast as the slowest of the cache passes the cache by.</summary>
    public required Func<int, int> RankOf { get; init; }

    /// <summary>The same of a disk of the ring, if that is in a cache pool.</summary>
    public Func<int, int>? RingRankOf { get; init; }

    /// <summary>Clients and background work on the disks of the backing store.</summary>
    public PoolLoad Load { get; init; } = new();

    /// <summary>Wall clock of the machine in minutes since local midnight.</summary>
    public required Func<int> MinuteOfDay { get; init; }
}
