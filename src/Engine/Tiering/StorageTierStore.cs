using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tiering;

/// <summary>Traffic of one tier of a virtual disk since it was opened, without the data that the store keeps for itself.</summary>
public sealed class TierCounters
{
    /// <summary>Reads and writes of clients, with their latencies and their queue.</summary>
    public IoCounters Io { get; private set; } = new();

    /// <summary>Reads of clients.</summary>
    public long ReadOperations => Io.ReadOperations;

    /// <summary>Bytes read by clients.</summary>
    public long ReadBytes => Io.ReadBytes;

    /// <summary>Writes of clients that came here and not to a write cache.</summary>
    public long WriteOperations => Io.WriteOperations;

    /// <summary>Bytes of them.</summary>
    public long WriteBytes => Io.WriteBytes;

    /// <summary>Writes that were the first into their slice: it was given its place for them.</summary>
    public long FirstWrites { get; private set; }

    /// <summary>Bytes of them.</summary>
    public long FirstWriteBytes { get; private set; }

    /// <summary>Bytes that came from the write cache.</summary>
    public long DestagedBytes { get; private set; }

    /// <summary>Slices that were given a place here by their first write.</summary>
    public long SlicesAllocated { get; private set; }

    /// <summary>Slices that have a place here now with the first write of a neighbour, and were not written yet.</summary>
    public long SlicesAhead { get; private set; }

    /// <summary>Slices that came here from another tier.</summary>
    public long SlicesMovedIn { get; private set; }

    /// <summary>Slices that went to another tier.</summary>
    public long SlicesMovedOut { get; private set; }

    /// <summary>Returns the counters as they are now; called on their lane.</summary>
    internal TierCounters Copy()
    {
        TierCounters copy = (TierCounters)MemberwiseClone();
        copy.Io = Io.Copy();
        return copy;
    }

    internal void NoteAllocated(int slice) => SlicesAllocated += slice < SlicesMapped.SystemSlices ? 1 : 0;

    /// <summary>A slice was given a place here ahead of its first write.</summary>
    internal void NoteAhead() => SlicesAhead++;

    /// <summary>Such a slice was written or has left.</summary>
    internal void NoteNotAhead() => SlicesAhead--;

    internal void NoteMovedIn() => SlicesMovedIn++;

    internal void NoteMovedOut() => SlicesMovedOut++;

    /// <summary>Whether a request is a client's, and not one of the disk's own or of destaging.</summary>
    internal static bool IsClients(int slice, WriteFlags flags) => slice < SlicesMapped.SystemSlices && (flags & WriteFlags.Destage) == 0;

    internal void EndRead(int bytes, long nanoseconds, bool failed) => Io.EndRead(bytes, nanoseconds, failed);

    internal void EndWrite(int bytes, bool isFirst, long nanoseconds, bool failed)
    {
        FirstWrites += isFirst ? 1 : 0;
        FirstWriteBytes += isFirst ? bytes : 0;
        Io.EndWrite(bytes, nanoseconds, failed);
    }

    internal void NoteDestaged(int slice, int bytes) => DestagedBytes += slice < SlicesMapped.SystemSlices ? bytes : 0;
}

/// <summary>One tier under a tiered store: its space, cut into slots of a slice each.</summary>
/// <remarks>No slot is in two rows: a row that is given back holds whole slots alone.</remarks>
internal sealed class StorageTierStore
{
    private const int SpareMin = 4;

    private int[] _mappedInRow;   // slots in use per row of the space

    internal StorageTierStore(Space space, long sizeBytes, int sliceSize, bool isThin)
    {
        Space = space;
        IsThin = isThin;
        SliceSize = sliceSize;
        SizeSlices = sizeBytes / sliceSize;
        Slots = new SlotPool(TierDescription.SlotsIn(space.Length, space.UnitSize, sliceSize));
        RowSlots = (uint)(space.UnitSize / sliceSize);
        _mappedInRow = new int[(space.Length + space.UnitSize - 1) / space.UnitSize];
        space.KeepUnits(row => _mappedInRow[row] > 0);
        for (uint slot = 0; slot < Slots.Count; slot++)
        {
            Slots.SetClean(slot, !space.IsReserved(RowOf(slot)));   // a row that was never used is made blank before it is used
        }
    }

    /// <summary>Whether a slot is free that no slice of the disk may come to need, nor a move.</summary>
    internal bool HasRoomBeside => Slots.Count - Slots.Taken > SizeSlices - Users + SpareMin;

    internal Space Space { get; }

    internal bool IsThin { get; }

    internal int SliceSize { get; }

    /// <summary>Slices that may be here; the slots beyond are for moves.</summary>
    internal long SizeSlices { get; private set; }

    /// <summary>Slots held for slices of the disk: those that are here, come here, or have just left.</summary>
    internal long Users { get; private set; }

    internal SlotPool Slots { get; }

    /// <summary>Slots of a row.</summary>
    internal uint RowSlots { get; }

    internal TierCounters Counters { get; } = new();

    internal long Address(uint slot) => (slot / RowSlots * Space.UnitSize) + (slot % RowSlots * (long)SliceSize);

    internal int RowOf(uint slot) => (int)(slot / RowSlots);

    /// <summary>Adds slots at the end.</summary>
    internal void Grow(long sizeBytes)
    {
        SizeSlices = sizeBytes / SliceSize;
        Slots.Grow(TierDescription.SlotsIn(Space.Length, Space.UnitSize, SliceSize));
        Array.Resize(ref _mappedInRow, (int)((Space.Length + Space.UnitSize - 1) / Space.UnitSize));
    }

    /// <summary>Rows of the space.</summary>
    internal int Rows => _mappedInRow.Length;

    /// <summary>Slots that may hold something although no slice is in their row: what keeps a row of a thin tier from going back to the pool.</summary>
    internal IEnumerable<uint> LeftoversIn(int row)
    {
        if (!IsThin || !Space.Shape.Checksums || _mappedInRow[row] > 0 || !Space.IsReserved(row))
        {
            yield break;
        }

        for (long slot = row * (long)RowSlots; slot < Math.Min((row + 1L) * RowSlots, Slots.Count); slot++)
        {
            if (!Slots.IsClean((uint)slot))
            {
                yield return (uint)slot;
            }
        }
    }

    /// <summary>Counts a slot of a slice: a row with slots in use is not given back to the pool.</summary>
    internal void Hold(uint slot, int slice, int change)
    {
        int row = RowOf(slot);
        _mappedInRow[row] += change;
        Users += slice < SlicesMapped.SystemSlices ? change : 0;
        Invariant.That(_mappedInRow[row] >= 0 && Users >= 0, "A slot is let go once by the slice that held it.");
        if (_mappedInRow[row] == 0 && IsThin)
        {
            Space.UnitReleased(row);
        }
    }
}
