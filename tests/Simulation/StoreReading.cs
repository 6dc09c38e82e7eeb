using TierSpaces.Engine.Primitives;

namespace TierSpaces.Simulation;

/// <summary>Reads a store from end to end and holds it against its oracle.</summary>
internal static class StoreReading
{
    private const int ChunkBytes = 64 << 10;
    private const int BlockBytes = 4096;

    /// <summary>Returns what is wrong, or null.</summary>
    /// <param name="store">An open store; nothing else uses it.</param>
    /// <param name="oracle">Its oracle.</param>
    /// <param name="length">Its length in bytes.</param>
    /// <param name="observe">Whether this is the first reading after a crash: what is read then stays.</param>
    /// <param name="hasParity">Whether single blocks of stripes that were written whole and not flushed may be lost with a disk.</param>
    internal static string? ReadAll(ISimStore store, BlockOracle oracle, long length, bool observe, bool hasParity)
    {
        string? wrong = null;
        for (long at = 0; at < length && wrong is null; at += ChunkBytes)
        {
            int bytes = (int)Math.Min(ChunkBytes, length - at);
            wrong = Read(store, oracle, at, bytes, observe);
            if (wrong is not null && (hasParity || oracle.MayBeTorn))
            {
                wrong = null;   // block by block: some of them may be lost
                for (long block = at; block < at + bytes && wrong is null; block += BlockBytes)
                {
                    string? found = Read(store, oracle, block, BlockBytes, observe);
                    bool isLost = found is not null && found.StartsWith("read at", StringComparison.Ordinal) && oracle.TryLose(block, BlockBytes);
                    CrashSimulation.Count(isLost, "block of a whole stripe lost with a disk");
                    wrong = isLost ? null : found;
                }
            }
        }

        return wrong;
    }

    private static string? Read(ISimStore store, BlockOracle oracle, long at, int length, bool observe)
    {
        IoBuffer buffer = store.Lane.Buffers.Rent(length);
        IoError error = store.Lane.Run(store.Store.Read(at, buffer));
        string? wrong = error != IoError.None ? $"read at {at}: {error}"
            : observe ? oracle.Observe(at, buffer.Span) : oracle.CheckServing(at, buffer.Span);
        store.Lane.Buffers.Return(buffer);
        return wrong;
    }
}
