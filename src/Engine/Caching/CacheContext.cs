using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

/// <summary>Context that the parts of one write cache share: its lane, the store behind it, its options, its state and its counters.</summary>
internal sealed class CacheContext(ILane lane, IBackingStore backing, WriteCacheOptions options)
{
    internal ILane Lane { get; } = lane;

    internal IBackingStore Backing { get; } = backing;

    internal WriteCacheOptions Options { get; } = options;

    internal CacheStatus Status { get; } = new(backing);

    internal WriteCacheCounters Counters { get; } = new();
}
