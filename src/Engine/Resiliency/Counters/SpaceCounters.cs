namespace TierSpaces.Engine.Resiliency;

/// <summary>Counters of a space since it was opened, by topic.</summary>
public sealed class SpaceCounters
{
    /// <summary>Traffic of requests and member disks.</summary>
    public SpaceIoCounters Io { get; } = new();

    /// <summary>Data and checksums found wrong, and what became of them.</summary>
    public SpaceDamageCounters Damage { get; } = new();

    /// <summary>Copies made equal and whole.</summary>
    public SpaceRepairCounters Repair { get; } = new();

    /// <summary>Slabs and rows that changed their place or owner.</summary>
    public SpaceRowCounters Rows { get; } = new();

    /// <summary>Use of the integrity log.</summary>
    public SpaceLogCounters Log { get; } = new();

    /// <summary>Work of parity.</summary>
    public SpaceParityCounters Parity { get; } = new();

    /// <summary>Adds what happened in another space.</summary>
    internal void Add(SpaceCounters other)
    {
        Io.Add(other.Io);
        Damage.Add(other.Damage);
        Repair.Add(other.Repair);
        Rows.Add(other.Rows);
        Log.Add(other.Log);
        Parity.Add(other.Parity);
    }
}
