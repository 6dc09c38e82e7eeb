namespace TierSpaces.Engine.Resiliency;

/// <summary>Work of a space with parity.</summary>
public sealed class SpaceParityCounters
{
    /// <summary>Stripes that were written whole, without reading anything.</summary>
    public long WholeStripes { get; private set; }

    /// <summary>Changes of a part of a stripe.</summary>
    public long PartialWrites { get; private set; }

    /// <summary>Records of the parity journal.</summary>
    public long JournalRecords { get; private set; }

    /// <summary>Changes that were done again at open.</summary>
    public long Replayed { get; private set; }

    /// <summary>Blocks that were computed from the others of their lines, for reads and writes.</summary>
    public long BlocksRebuilt { get; private set; }

    /// <summary>Stripes were written whole.</summary>
    internal void NoteWhole(int stripes) => WholeStripes += stripes;

    /// <summary>A part of a stripe is changed.</summary>
    internal void NotePartial() => PartialWrites++;

    /// <summary>A record of the parity journal is durable.</summary>
    internal void NoteRecord() => JournalRecords++;

    /// <summary>A change was done again.</summary>
    internal void NoteReplayed() => Replayed++;

    /// <summary>Blocks were computed from the others of their lines, and match their entries.</summary>
    internal void NoteRebuilt(int blocks) => BlocksRebuilt += blocks;

    internal void Add(SpaceParityCounters other)
    {
        WholeStripes += other.WholeStripes;
        PartialWrites += other.PartialWrites;
        JournalRecords += other.JournalRecords;
        Replayed += other.Replayed;
        BlocksRebuilt += other.BlocksRebuilt;
    }
}
