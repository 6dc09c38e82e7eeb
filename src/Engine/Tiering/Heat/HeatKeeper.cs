using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

/// <summary>
/// Saves the heat of a virtual disk in slices that belong to its store, in two areas by turns, and reads the newest whole one back. Whatever
/// goes wrong costs heat and nothing else.
/// </summary>
internal sealed class HeatKeeper(ILane lane, TieredStore store, Guid owner)
{
    private const int BlocksAtOnce = 16;

    private ulong _sequence;

    /// <summary>Whether there is a whole map saved, which is to be replaced also by one without heat.</summary>
    internal bool HasSaved => _sequence > 0;

    private long AreaBytes => HeatSnapshot.BlocksFor(store.Slices) * HeatSnapshot.BlockSize;

    /// <summary>Returns the heat map that was saved last; an empty map if no saved one is whole.</summary>
    internal async LaneTask<HeatMap> Load(HeatSettings settings)
    {
        HeatMap? newest = null;
        for (int area = 0; area < 2; area++)
        {
            HeatSnapshotReader reader = new(owner, settings, store.Slices, lane.UtcNow.UtcTicks, lane.NowNs);
            await Read(reader, area);
            if (reader.Map is { } map && reader.Sequence > _sequence)
            {
                newest = map;
                _sequence = reader.Sequence;
            }
        }

        return newest ?? new HeatMap(settings, store.Slices);
    }

    /// <summary>Saves a map, durably.</summary>
    internal async LaneTask<IoError> Save(HeatMap map)
    {
        HeatSnapshotWriter writer = new(map, owner, _sequence + 1, lane.UtcNow.UtcTicks, lane.NowNs);
        IoBuffer buffer = lane.Buffers.Rent(BlocksAtOnce * HeatSnapshot.BlockSize);
        long at = (long)((_sequence + 1) & 1) * AreaBytes;
        IoError error = IoError.None;
        for (int blocks = BlocksAtOnce; blocks == BlocksAtOnce && error == IoError.None; at += buffer.Length)
        {
            for (blocks = 0; blocks < BlocksAtOnce && writer.Next(buffer.Span.Slice(blocks * HeatSnapshot.BlockSize, HeatSnapshot.BlockSize)); blocks++)
            {
            }

            error = blocks > 0 ? await store.WriteSystem(at, buffer.Slice(0, blocks * HeatSnapshot.BlockSize), WriteFlags.None) : error;
        }

        lane.Buffers.Return(buffer);
        error = error == IoError.None ? await store.Flush() : error;
        _sequence += error == IoError.None ? 1UL : 0;
        return error;
    }

    private async LaneTask<Nothing> Read(HeatSnapshotReader reader, int area)
    {
        IoBuffer buffer = lane.Buffers.Rent(HeatSnapshot.BlockSize);
        bool goesOn = true;
        for (long at = area * AreaBytes; goesOn && at < (area + 1) * AreaBytes; at += buffer.Length)
        {
            goesOn = await store.ReadSystem(at, buffer) == IoError.None && reader.Add(buffer.Span);
        }

        lane.Buffers.Return(buffer);
        return default;
    }
}
