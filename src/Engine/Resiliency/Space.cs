using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Journals;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// One resilient address space: a layout executed over rows of slabs.
//
// A request is cut into pieces, each in one strip, one region and one checksum page; pieces run side by side. A write
// locks its range, so that copies never see two writes of a block in different orders; a read does not, and reads again
// under the lock when its data does not match.
//
// Invariants (each has a simulated-crash test)
//  1. A region is durably marked dirty before the first write into it while it is clean.
//  2. An entry reaches the checksum pages only after its log record is durable; the log is trimmed only after the pages are
//     durable and read back on every copy; the mark of a region still dirty is written again first.
//  3. An entry that turns a never-written block into a written one is logged only after the block's data was flushed.
//  4. No answer comes from a region that was dirty at an unclean stop before its copies agree, durably, with the log.
//  5. A write is acknowledged only when every copy in the view holds it and every copy that misses it is durably stale.
//  6. Slabs are used only after their checksum pages are blank, durably; given back only after the zeros are logged, durably.
//
// Files: reads, writes, regions, flush, pages (cache and writeback), rows, unmap, open (recovery) and resync.

/// <summary>Executes a simple or mirrored layout over the slabs of a pool.</summary>
public sealed partial class Space : IHomeStore, IRepairable
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly ISpaceHost _host;
    private readonly ILane _lane;
    private readonly SpaceOptions _options;
    private readonly SpaceShape _shape;
    private readonly SpaceMembers _members;
    private readonly RangeLock _locks = new();
    private readonly ChecksumPageCache _pages;
    private readonly CrashNotes? _notes;
    private readonly LaneSignal _regionsChanged = new();
    private SpaceRow?[] _rows;
    private readonly RingSet _rings;   // integrity log, write cache
    private RingMedium? _logMedium;
    private IntegrityLog? _log;
    private bool _closing;

    private Space(ISpaceHost host, SpaceOptions options)
    {
        _host = host;
        _lane = host.Lane;
        _options = options;
        _shape = options.Shape;
        _members = new SpaceMembers(host) { Fail = Fail, AfterEviction = AfterEviction };
        _rings = new RingSet(_members, _lane.Buffers, Fail);
        _pages = new ChecksumPageCache(_shape, options.CachedPagesMax);
        _hedges = new SpaceHedges(_lane, options.HedgeAfterNs, _members, OtherCopy, ReadOther);
        _notes = options is { CrashNotes: { } memory, Shape.Checksums: true } ? NotesIn(memory, _shape) : null;
        _rows = new SpaceRow?[RowsFor(options.Length)];
        Length = options.Length;
        foreach (SpaceRowMap map in options.Rows)
        {
            if (map.Index < _rows.Length)   // a host that stopped while it made the disk longer leaves rows beyond the end; growing again replaces them
            {
                _rows[map.Index] = new SpaceRow(_shape, map);
            }
        }
    }

    /// <summary>Length in bytes.</summary>
    public long Length { get; private set; }

    /// <summary>Layout.</summary>
    public SpaceShape Shape => _shape;

    /// <summary>Why the space takes no more requests; <see cref="IoError.None"/> while it does.</summary>
    public IoError Fault { get; private set; }

    /// <summary>Why, in words.</summary>
    public string FaultReason { get; private set; } = "";

    /// <summary>Number of a disk whose host file system is full, so that writes wait; −1: none.</summary>
    public int FullDisk => _members.Full;

    /// <summary>What happened since it was opened.</summary>
    public SpaceCounters Counters { get; } = new();

    /// <inheritdoc/>
    public StoreGeometry Geometry => new(Length, BlockSize, BlockSize, BufferPool.LargestBuffer);

    /// <summary>Regions that may not be answered from yet.</summary>
    public int UnresolvedRegions { get; private set; }

    /// <summary>Regions marked dirty.</summary>
    public int DirtyRegions { get; private set; }

    /// <summary>Grows the space; shrinking is not done.</summary>
    public void Grow(long length)
    {
        Array.Resize(ref _rows, Math.Max(_rows.Length, RowsFor(length)));
        Length = Math.Max(Length, length);
    }

    /// <summary>A row got slabs of its own without having been written: a fixed disk has grown.</summary>
    public void AddOwnedRow(SpaceRowMap map) => _rows[map.Index] = new SpaceRow(_shape, map);

    /// <inheritdoc/>
    public void Expect(long offset)
    {
        if (_shape.Checksums && (ulong)offset < (ulong)Length)
        {
            _pages.Expect(StripeGeometry.First(_shape, offset, 1));
        }
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        if (Refusal(offset, target.Length) is not IoError.None and var refused)
        {
            return LaneTask.FromResult(refused);
        }

        StripPiece piece = StripeGeometry.First(_shape, offset, target.Length);
        return piece.Length == target.Length ? ReadPiece(piece, target) : ReadMany(offset, target);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        if (Refusal(offset, source.Length) is not IoError.None and var refused)
        {
            return LaneTask.FromResult(refused);
        }

        if ((flags & WriteFlags.ForceUnitAccess) != 0)
        {
            return WriteThrough(offset, source);
        }

        StripPiece piece = StripeGeometry.First(_shape, offset, source.Length);
        return piece.Length == source.Length ? WritePiece(piece, source) : WriteMany(offset, source);
    }

    /// <summary>A half must take the notes of a whole piece: a writer would wait for room without end.</summary>
    private static CrashNotes NotesIn(IoBuffer memory, in SpaceShape shape)
    {
        CrashNotes notes = new(memory);
        int needed = Math.Min(shape.PageSpan, shape.Interleave) / BlockSize * CrashNotes.SlotsPerNote;
        return notes.Capacity >= needed ? notes
            : throw new ArgumentException($"A first-write journal of {notes.Capacity} slots a half: a write takes up to {needed}.", nameof(memory));
    }

    private async LaneTask<IoError> ReadMany(long offset, IoBuffer target)
    {
        Fan fan = Fan.Rent();
        for (int at = 0; at < target.Length;)
        {
            StripPiece piece = StripeGeometry.First(_shape, offset + at, target.Length - at);
            fan.Add(ReadPiece(piece, target.Slice(at, piece.Length)));
            at += piece.Length;
        }

        return await fan.Wait();
    }

    private async LaneTask<IoError> WriteMany(long offset, IoBuffer source)
    {
        Fan fan = Fan.Rent();
        for (int at = 0; at < source.Length;)
        {
            StripPiece piece = StripeGeometry.First(_shape, offset + at, source.Length - at);
            fan.Add(WritePiece(piece, source.Slice(at, piece.Length)));
            at += piece.Length;
        }

        return await fan.Wait();
    }

    private async LaneTask<IoError> WriteThrough(long offset, IoBuffer source)
    {
        IoError error = await Write(offset, source, WriteFlags.None);
        return error == IoError.None ? await Flush() : error;
    }

    private IoError Refusal(long offset, long length) => length == 0 ? IoError.InvalidArgument : RefusalOfRange(offset, length);

    private IoError RefusalOfRange(long offset, long length) =>
        Fault != IoError.None ? Fault
        : offset < 0 || length < 0 || offset > Length - length || ((offset | length) & (BlockSize - 1)) != 0 ? IoError.InvalidArgument
        : IoError.None;

    private int RowsFor(long length) => checked((int)((length + _shape.RowSize - 1) / _shape.RowSize));

    /// <summary>Nothing can be promised any more: every further request is refused.</summary>
    private IoError Fail(IoError error, string reason)
    {
        if (Fault == IoError.None)
        {
            Fault = error;
            FaultReason = reason;
            _regionsChanged.NotifyAll();
        }

        return error;
    }

    private async LaneTask<IoError> AfterEviction(int disk) =>
        _opening ? await OnDiskLost(disk) : IoError.None;   // nobody tells a space that is not open yet

    private LaneTask<bool> PutOut(int disk, IoError error, bool hasOtherCopy, string what) => _members.PutOut(disk, error, hasOtherCopy, what);
}
