using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>State of a dirty region.</summary>
internal enum RegionState : byte
{
    /// <summary>Positions agree with each other and with their entries, durably.</summary>
    Clean,

    /// <summary>The mark is on its way to the log.</summary>
    Marking,

    /// <summary>Marked durably: writes may be in flight or unflushed.</summary>
    Dirty,

    /// <summary>Was dirty at an unclean stop, and a part of it at least is not resynced yet: nothing may be answered from that part.</summary>
    Unresolved,
}

// One dirty region: a sixteenth of the slabs of a group.
//
// Invariants
//  1. InFlight counts the writes that were admitted and have not ended.
//  2. ActiveRound is the number of the flush round that covers the last write that ended, ActiveNs the time of that.
//  3. MarkSequence is the log block of its dirty mark; 0: the log need not keep one.

/// <summary>A dirty region.</summary>
internal struct Region
{
    internal RegionState State { get; private set; }

    internal int InFlight { get; private set; }

    internal ulong ActiveRound { get; private set; }

    internal long ActiveNs { get; private set; }

    internal ulong MarkSequence { get; private set; }

    /// <summary>Whether nothing may be answered from a part of it before that is resynced.</summary>
    internal readonly bool IsUnresolved => State == RegionState.Unresolved;

    /// <summary>Whether its positions agree, and stay so as long as no write is admitted.</summary>
    internal readonly bool IsQuiet => State == RegionState.Clean && InFlight == 0;

    /// <summary>Whether a disk that is out may miss writes of it.</summary>
    internal readonly bool MayDiffer => State != RegionState.Clean || InFlight > 0;

    internal void Admit() => InFlight++;   // the time is noted when the write ends: until then the region is not idle

    /// <summary>Ends a write.</summary>
    internal void End(ulong round, long nowNs)
    {
        InFlight--;
        Invariant.That(InFlight >= 0, "A write ends once.");
        Touch(round, nowNs);
    }

    internal void Touch(ulong round, long nowNs) => (ActiveRound, ActiveNs) = (round, nowNs);

    internal void BeginMark() => State = RegionState.Marking;

    /// <summary>Records the log block of the mark; from here on the log keeps the mark, or writes it again.</summary>
    internal void NoteMark(ulong sequence) => MarkSequence = sequence;

    /// <summary>Ends the mark; a region that is marked beside another is idle from here on.</summary>
    internal void EndMark(bool isDurable, long nowNs)
    {
        State = isDurable ? RegionState.Dirty : RegionState.Clean;
        ActiveNs = nowNs;
    }

    /// <summary>All of it is resynced.</summary>
    internal void EndResync() => State = RegionState.Dirty;

    internal void Clean() => (State, MarkSequence) = (RegionState.Clean, 0);

    /// <summary>Replays a mark of the log.</summary>
    internal void Replay(bool isDirty, ulong sequence) =>
        (State, MarkSequence) = isDirty ? (RegionState.Unresolved, sequence) : (RegionState.Clean, 0);
}
