using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Journals;

/// <summary>
/// Medium of a journal's ring: equal copies on distinct disks. The medium decides how to treat a copy that fails; an error it returns means that no
/// copy is left.
/// </summary>
public interface IJournalMedium
{
    /// <summary>Copies, live or not.</summary>
    int Copies { get; }

    /// <summary>Blocks of 4 KiB in the ring.</summary>
    int Blocks { get; }

    /// <summary>Whether a copy is away that was never said to lack anything: it may have blocks that no other copy gives.</summary>
    bool IsCopyAway => false;

    /// <summary>Reads from one copy; an error when that copy is not there.</summary>
    LaneTask<IoError> Read(int copy, long offset, IoBuffer target);

    /// <summary>Writes to every live copy.</summary>
    LaneTask<IoError> Write(long offset, IoBuffer source);

    /// <summary>Flushes every live copy.</summary>
    LaneTask<IoError> Flush();
}
