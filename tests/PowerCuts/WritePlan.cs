namespace TierSpaces.PowerCuts;

/// <summary>A write or a zeroing of a device.</summary>
/// <param name="First">First block of 4 KiB.</param>
/// <param name="Count">Blocks.</param>
/// <param name="IsZero">Zeroed by the device, by discarding.</param>
/// <param name="Number">Its number, which every sector that it writes carries: unique for the device, rising.</param>
internal readonly record struct PlannedWrite(long First, int Count, bool IsZero, ulong Number);

/// <summary>
/// Writes between two flushes. Writes of a batch are under way together and do not overlap; batches follow one another. A durable step has one batch of
/// writes that are durable by themselves, and no flush.
/// </summary>
internal sealed record PlannedStep(bool IsDurable, PlannedWrite[][] Batches);

/// <summary>The writes that a load sends to a device: the seed, the start of the machine and the device decide them all, so they are not recorded.</summary>
internal static class WritePlan
{
    internal const int Block = 4096;

    internal static IEnumerable<PlannedStep> Steps(ulong seed, int boot, int writer, long blocks)
    {
        Random random = new(Mix(seed, boot, writer));
        ulong number = (ulong)boot << 32;
        long hot = random.NextInt64(blocks);
        while (true)
        {
            bool isDurable = random.Next(6) == 0;
            PlannedWrite[][] batches = new PlannedWrite[isDurable ? 1 : random.Next(16) == 0 ? random.Next(5, 17) : random.Next(1, 4)][];
            for (int i = 0; i < batches.Length; i++)
            {
                List<PlannedWrite> batch = [];
                for (int wanted = random.Next(1, 9); wanted > 0; wanted--)
                {
                    int kind = random.Next(64);
                    int count = kind == 0 ? random.Next(1, 257) : kind < 8 ? random.Next(1, 33) : random.Next(1, 4);
                    long first = random.Next(3) == 0 ? (hot + random.Next(256)) % blocks : random.NextInt64(blocks);
                    count = (int)Math.Min(count, blocks - first);
                    if (!batch.Exists(other => other.First < first + count && first < other.First + other.Count))
                    {
                        batch.Add(new PlannedWrite(first, count, !isDurable && random.Next(12) == 0, ++number));
                    }
                }

                batches[i] = [.. batch];
            }

            yield return new PlannedStep(isDurable, batches);
        }
    }

    /// <summary>A number of its own for each writer of each start. HashCode is another one in every process.</summary>
    internal static int Mix(ulong seed, int boot, int writer)
    {
        ulong mixed = (seed * 0x9E3779B97F4A7C15) ^ (((ulong)boot << 8) + (ulong)writer + 1) * 0xBF58476D1CE4E5B9;
        mixed = (mixed ^ (mixed >> 31)) * 0x94D049BB133111EB;
        return (int)(mixed >> 33);
    }
}
