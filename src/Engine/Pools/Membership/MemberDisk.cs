using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// A member disk as the metadata sees it: where its areas are, its newest superblock, its checkpoints.
//
// Invariants
//  1. Newest is what a reader of the disk would take for its newest superblock: it changes when both rings are flushed.
//  2. No superblock is written over the slot of Newest.
//  3. ENOSPC is never a failure of the disk: the write waits and is tried again each second until it succeeds, the disk
//     fails, or the pool gives up the disk.
//  4. While the pool is declared power-protected no flush reaches the device, from here or from virtual disks.

/// <summary>One present member of a pool.</summary>
internal sealed class MemberDisk
{
    private const long RetryNs = 1_000_000_000;

    private readonly ILane _lane;
    private Action<MemberDisk>? _waitsForSpace;   // told each time a write has to wait for space
    private LeaseGate? _gate;
    private bool _skipsFlush;                     // the pool is declared power-protected
    private int _metadataWrites;                  // groups and checkpoints that are on their way to it
    private long _restsUntilNs;                   // until then it is not chosen for the metadata, because it was slow
    private bool _failsWhenFull;                  // a write fails at once for lack of space, instead of waiting

    /// <summary>A disk with a label.</summary>
    /// <param name="lane">Lane of the pool.</param>
    /// <param name="disk">The disk.</param>
    /// <param name="label">Its label.</param>
    /// <param name="newest">The newest superblock on it; null: it has none yet.</param>
    /// <param name="isForming">Whether it is still being added.</param>
    internal MemberDisk(ILane lane, IDisk disk, DiskLabel label, Superblock? newest = null, bool isForming = false)
    {
        _lane = lane;
        Disk = disk;
        Label = label;
        Newest = newest;
        IsForming = isForming;
        bool isPossible = DiskLayout.TryCreate(label.DiskBytes, label.Slabs, out DiskLayout layout, out _);
        Invariant.That(isPossible, "A label that was decoded describes a possible layout.");
        Layout = layout;
        if (disk is MeteredDisk metered)
        {
            long end = layout.SlabOffset(layout.SlabCount);
            metered.CountMetadata(new MetadataAreas(layout.SlabArea, layout.Slabs.Stride, layout.Slabs.ChecksumBytes, end));
        }

        Checkpoints = new CheckpointStore(this);
    }

    internal IDisk Disk { get; }

    internal DiskLabel Label { get; }

    internal DiskNumber Number => Label.Number;

    internal DiskLayout Layout { get; }

    internal CheckpointStore Checkpoints { get; }

    /// <summary>The newest superblock on the disk; null on a disk that has none yet.</summary>
    internal Superblock? Newest { get; private set; }

    /// <summary>Whether superblocks written now say that the disk is still being added.</summary>
    internal bool IsForming { get; private set; }

    /// <summary>Whether it has lost what it once held: an old copy, or a disk that confirmed writes it did not keep.</summary>
    internal bool IsForgetful { get; private set; }

    /// <summary>The journal that it has confirmed while it was a metadata disk of this session.</summary>
    internal JournalPosition JournalEnd { get; private set; }

    /// <summary>Whether groups or checkpoints are on their way to it; it becomes no metadata disk meanwhile.</summary>
    internal bool TakesMetadata => _metadataWrites > 0;

    /// <summary>Whether it may be chosen for the metadata: none are on their way to it, and it does not rest.</summary>
    internal bool IsFreeForMetadata => !TakesMetadata && _restsUntilNs <= _lane.NowNs;

    /// <summary>Time at which the file system below became full, or 0.</summary>
    internal long FullSinceNs { get; private set; }

    /// <summary>Name for messages.</summary>
    internal string Name => $"disk {Number} ({Disk.Identity.Uri})";

    /// <summary>The pool begins to use the disk: a member, or one that is about to be.</summary>
    /// <param name="waitsForSpace">Told each time a write has to wait for space.</param>
    /// <param name="isPowerProtected">Whether the pool is declared power-protected.</param>
    /// <param name="gate">Requests to it wait while this lease does not run; null: for none.</param>
    internal void Attach(Action<MemberDisk> waitsForSpace, bool isPowerProtected, LeaseGate? gate)
    {
        _waitsForSpace = waitsForSpace;
        Use(gate, isPowerProtected);
    }

    /// <summary>Requests to it wait while a lease does not run; null: for none.</summary>
    internal void SetGate(LeaseGate? gate) => Use(gate, _skipsFlush);

    /// <summary>The pool is declared power-protected, or is not any more. While it is, flushes are left out, those of virtual disks too.</summary>
    internal void DeclarePowerProtected(bool isDeclared)
    {
        if (_skipsFlush != isDeclared)
        {
            Use(_gate, isDeclared);
        }
    }

    /// <summary>Begins to add the disk. A full file system refuses it, instead of holding the pool up.</summary>
    internal void BeginForming()
    {
        IsForming = true;
        FailWhenFull();
    }

    /// <summary>The disk has everything that a new member needs.</summary>
    internal void EndForming()
    {
        BecomeMember();
        WaitWhenFull();
    }

    /// <summary>Superblocks written from now on say that the disk is a member.</summary>
    internal void BecomeMember() => IsForming = false;

    /// <summary>A write that finds no space fails from now on; one that waits fails at its next try.</summary>
    internal void FailWhenFull() => _failsWhenFull = true;

    /// <summary>A write that finds no space waits from now on.</summary>
    internal void WaitWhenFull() => _failsWhenFull = false;

    /// <summary>The disk has been compared with what the pool knows that it held.</summary>
    internal void Judge(ReturnVerdict verdict) => IsForgetful = verdict == ReturnVerdict.Less;

    /// <summary>Returns the disk as one that is not a member and has lost what it once held.</summary>
    internal MemberDisk AsForgetful() => new(_lane, Disk, Label, Newest) { IsForgetful = true };

    /// <summary>A group or a checkpoint is on its way to the disk.</summary>
    internal void BeginMetadata() => _metadataWrites++;

    /// <summary>A group or a checkpoint is on the disk, or has failed.</summary>
    internal void EndMetadata() => _metadataWrites--;

    /// <summary>The disk has confirmed the journal up to a position.</summary>
    internal void ConfirmJournal(JournalPosition end) => JournalEnd = end;

    /// <summary>The disk was slow: for some time it is not chosen for the metadata.</summary>
    /// <param name="restNs">The time, in nanoseconds.</param>
    internal void Rest(long restNs) => _restsUntilNs = _lane.NowNs + restNs;

    internal PoolBlock Place(long offset) => new(Label.Pool, Label.Disk, offset / PoolBlock.Size);

    internal LaneTask<IoError> Read(long offset, Memory<byte> target) => MetadataIo.Read(_lane, Disk, offset, target);

    /// <summary>Writes, waiting for space as long as it takes.</summary>
    internal async LaneTask<IoError> Write(long offset, ReadOnlyMemory<byte> source)
    {
        IoError error = await MetadataIo.Write(_lane, Disk, offset, source);
        while (error == IoError.NoSpace && !_failsWhenFull)
        {
            await WaitForSpace();
            error = await MetadataIo.Write(_lane, Disk, offset, source);
        }

        FullSinceNs = error == IoError.NoSpace ? FullSinceNs : 0;
        return error;
    }

    /// <summary>
    /// Makes every completed write durable. A flush that fails, also for lack of space, is not repeated: the data that it had to cover may be lost, and the
    /// next flush would not report it.
    /// </summary>
    internal LaneTask<IoError> Flush() => _skipsFlush ? LaneTask.FromResult(IoError.None) : Disk.Flush();

    /// <summary>Makes a superblock the newest: ring A, flush, ring B, flush.</summary>
    internal async LaneTask<IoError> WriteSuperblock(Superblock superblock)
    {
        Invariant.That(Newest is null || superblock.Epoch > Newest.Epoch, "The epochs of a disk rise.");
        Invariant.That(!IsSlotOfNewest(superblock.Epoch), "No superblock is written over the slot that the newest one is in.");
        byte[] block = new byte[PoolBlock.Size];
        foreach (long ring in (long[])[DiskLayout.SuperblockRingA, Layout.SuperblockRingB])
        {
            long offset = DiskLayout.SuperblockSlot(ring, superblock.Epoch);
            superblock.Encode(block, Label.Pool, Label.Disk, offset);
            IoError error = await Write(offset, block);
            error = error == IoError.None ? await Flush() : error;
            if (error != IoError.None)
            {
                return error;
            }
        }

        Newest = superblock;
        return IoError.None;
    }

    /// <summary>Whether an epoch's slot holds the newest superblock.</summary>
    internal bool IsSlotOfNewest(ulong epoch) =>
        Newest is { } newest && newest.Epoch % DiskLayout.SuperblockSlots == epoch % DiskLayout.SuperblockSlots;

    /// <summary>Writes both labels and flushes them.</summary>
    internal async LaneTask<IoError> WriteLabels()
    {
        byte[] block = new byte[PoolBlock.Size];
        IoError error = IoError.None;
        foreach (long offset in (long[])[DiskLayout.LabelA, Layout.LabelB])
        {
            Label.Encode(block, offset);
            error = error == IoError.None ? await Write(offset, block) : error;
        }

        return error == IoError.None ? await Flush() : error;
    }

    /// <summary>Returns the number of labels, 0 to 2, that differ from those that were written.</summary>
    internal async LaneTask<int> CountDamagedLabels()
    {
        int damaged = 0;
        byte[] block = new byte[PoolBlock.Size];
        foreach (long offset in (long[])[DiskLayout.LabelA, Layout.LabelB])
        {
            Label.Encode(block, offset);
            damaged += await Holds(offset, block) ? 0 : 1;
        }

        return damaged;
    }

    /// <summary>In how many of the two rings the newest superblock is not as it was written.</summary>
    internal async LaneTask<int> CountDamagedSuperblocks()
    {
        int damaged = 0;
        byte[] block = new byte[PoolBlock.Size];
        foreach (long ring in (long[])[DiskLayout.SuperblockRingA, Layout.SuperblockRingB])
        {
            long offset = DiskLayout.SuperblockSlot(ring, Newest!.Epoch);
            Newest.Encode(block, Label.Pool, Label.Disk, offset);
            damaged += await Holds(offset, block) ? 0 : 1;
        }

        return damaged;
    }

    /// <summary>Writes zeros over rings and journal, so that their space is there and nothing of the past is; the next superblock flushes them.</summary>
    internal async LaneTask<IoError> ClearAreas()
    {
        byte[] zeros = new byte[DiskLayout.SuperblockSlots * PoolBlock.Size];
        IoError error = await Write(DiskLayout.SuperblockRingA, zeros);
        error = error == IoError.None ? await Write(Layout.SuperblockRingB, zeros) : error;
        for (long at = 0; at < Layout.JournalBytes && error == IoError.None; at += zeros.Length)
        {
            error = await Write(DiskLayout.Journal + at, zeros.AsMemory(0, (int)Math.Min(zeros.Length, Layout.JournalBytes - at)));
        }

        return error;
    }

    private async LaneTask<bool> Holds(long offset, byte[] expected)
    {
        byte[] read = new byte[expected.Length];
        return await Read(offset, read) == IoError.None && read.AsSpan().SequenceEqual(expected);
    }

    private void Use(LeaseGate? gate, bool skipsFlush)
    {
        (_gate, _skipsFlush) = (gate, skipsFlush);
        if (Disk is MeteredDisk metered)
        {
            metered.Use(gate, skipsFlush);
        }
    }

    private async LaneTask WaitForSpace()
    {
        FullSinceNs = FullSinceNs == 0 ? _lane.NowNs : FullSinceNs;
        _waitsForSpace?.Invoke(this);
        await _lane.Delay(RetryNs);
    }
}
