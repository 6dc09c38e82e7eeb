using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>The open space of one part of a virtual disk: a tier, or all of a disk without tiers.</summary>
public sealed class OpenPart
{
    internal OpenPart(int number, Space space, PoolSpaceHost host, string journalName)
    {
        Number = number;
        Space = space;
        Host = host;
        JournalName = journalName;
    }

    /// <summary>Number of the part in the description of its disk.</summary>
    public int Number { get; }

    /// <summary>Its space.</summary>
    public Space Space { get; }

    /// <summary>Services of the pool to the space.</summary>
    internal PoolSpaceHost Host { get; }

    /// <summary>Name of the memory that its first writes are noted in.</summary>
    internal string JournalName { get; }
}
