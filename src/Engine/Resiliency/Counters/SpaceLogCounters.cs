namespace TierSpaces.Engine.Resiliency;

/// <summary>Use of the integrity log of a space: blocks of its ring, and those that hold entries which the checksum pages lack.</summary>
public sealed class SpaceLogCounters
{
    /// <summary>Blocks of the ring.</summary>
    public long Blocks { get; private set; }

    /// <summary>Blocks in use after the last commit.</summary>
    public long BlocksUsed { get; private set; }

    /// <summary>Most blocks in use after a commit.</summary>
    public long BlocksUsedMax { get; private set; }

    /// <summary>The log was committed.</summary>
    internal void Note(int blocks, int used)
    {
        Blocks = blocks;
        BlocksUsed = used;
        BlocksUsedMax = Math.Max(BlocksUsedMax, used);
    }

    internal void Add(SpaceLogCounters other)
    {
        Blocks += other.Blocks;
        BlocksUsed += other.BlocksUsed;
        BlocksUsedMax += other.BlocksUsedMax;
    }
}
