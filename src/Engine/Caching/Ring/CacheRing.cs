using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// The ring of a write cache while it serves: anchors, then records. Writes that come while a record is on its way form the next one, so
// records reach the disks one after another and the chain has no holes. From time to time a summary follows them; when it is durable, an anchor names it.
//
// Positions count blocks ever upwards: Tail ≤ Durable ≤ Head ≤ Tail + Length. Everything before Tail is durable on the backing store.
//
// Invariants
//  1. A record is written only when the one before it is on every live copy; a group is answered only when its own record is.
//  2. Space is used again only after the anchor that frees it is durable on every live copy, and after its readers have ended.
//  3. After a failed write nothing is appended any more: a record at that position must never be replayed.
//  4. Anchors are written one after another, and the tail that they state never falls.
//  5. An anchor names only a summary that was durable when it was written. A summary takes no room that was promised to a write.

/// <summary>Appends records to the ring of a write cache and reads what they hold.</summary>
internal sealed class CacheRing
{
    internal const int BlockSize = CacheRecord.BlockSize;

    private const int FlushEveryBlocks = 4096;   // 16 MiB: bounds what a replay has to verify in full

    private readonly ILane _lane;
    private readonly RingMedium _medium;
    private readonly Guid _owner;
    private readonly ulong _session;
    private readonly RingSummary _summary;
    private readonly LaneSignal _anchorWritten = new();
    private readonly LaneSignal _settled = new();
    private readonly uint[] _checksums;   // of each block of the ring, by position modulo length
    private CacheGroup _open;             // writes join it
    private CacheGroup _other;            // on its way to the disks, or idle
    private bool _isWriting;
    private bool _isFlushing;
    private bool _isPublishing;           // a summary is made durable and named
    private bool _isAnchoring;
    private long _writingEnd;             // where the record on its way ends
    private uint _headChecksum;           // of the last record
    private ulong _anchor;                // number of the newest anchor
    private long _anchoredTail;           // the tail that it states
    private uint _anchoredChecksum;       // of the record before that

    internal CacheRing(ILane lane, RingMedium medium, Guid owner, ulong session, CacheChain chain)
    {
        _lane = lane;
        _medium = medium;
        _owner = owner;
        _session = session;
        Length = LengthOf(medium);
        PayloadMax = PayloadMaxOf(Length);
        Tail = chain.Tail;
        Head = chain.Head;
        Durable = chain.Head;
        _writingEnd = Head;
        _headChecksum = chain.HeadChecksum;
        _anchor = chain.AnchorNumber;
        _anchoredTail = chain.Tail;
        _anchoredChecksum = chain.TailChecksum;
        _summary = chain.Summary;
        _checksums = chain.Checksums;
        _open = new CacheGroup(lane.Buffers, PayloadMax);
        _other = new CacheGroup(lane.Buffers, PayloadMax);
    }

    /// <summary>Blocks for records.</summary>
    internal long Length { get; }

    /// <summary>Most blocks of payload of a record.</summary>
    internal int PayloadMax { get; }

    /// <summary>Position of the oldest record that is needed.</summary>
    internal long Tail { get; private set; }

    /// <summary>Position below which every record is durable.</summary>
    internal long Durable { get; private set; }

    /// <summary>Position behind the last complete record.</summary>
    internal long Head { get; private set; }

    /// <summary>Blocks in use by complete records.</summary>
    internal long Used => Head - Tail;

    /// <summary>Error after which the ring appends nothing more; <see cref="IoError.None"/> while it appends.</summary>
    internal IoError Fault { get; private set; }

    /// <summary>Error after which the ring can make nothing durable; <see cref="IoError.None"/> while it can.</summary>
    internal IoError FlushFault { get; private set; }

    /// <summary>Raised when a new group is begun.</summary>
    internal LaneSignal GroupBegun { get; } = new();

    /// <summary>States the end of the ring where a later process finds it; null: there is no place for that.</summary>
    internal EndStatement? End { private get; init; }

    /// <summary>Takes a complete record over.</summary>
    internal required CacheChain.TakeRecord OnRecord { get; init; }

    /// <summary>Blocks for records on a medium.</summary>
    internal static long LengthOf(RingMedium medium) => medium.Blocks - CacheAnchor.Slots;

    /// <summary>Most blocks of payload in a ring of a length: a quarter of it, so that destaging and filling can overlap.</summary>
    internal static int PayloadMaxOf(long length) => (int)Math.Clamp((length / 4) - 1, 1, CacheRecord.MaxPayloadBlocks);

    /// <summary>Returns the offset of a position on the medium, in bytes.</summary>
    internal static long OffsetOf(long position, long length) => (CacheAnchor.Slots + (position % length)) * BlockSize;

    /// <summary>Whether a write with this payload and these extents could be part of the next record.</summary>
    internal bool HasRoom(int payloadBlocks, int extents)
    {
        bool joins = _open.HasRoom(payloadBlocks, extents);
        int blocks = joins ? _open.Blocks + payloadBlocks : 1 + payloadBlocks + _open.Blocks;
        return PlaceFor(_writingEnd, blocks) + blocks <= Tail + Length;
    }

    /// <summary>The group that takes such a write now, or null when it has to wait for <see cref="GroupBegun"/>.</summary>
    internal CacheGroup? Join(int payloadBlocks, int extents) => _open.HasRoom(payloadBlocks, extents) ? _open : null;

    /// <summary>Completes when the record of a joined group is on every live copy, or when it failed; then there is a <see cref="Fault"/>.</summary>
    internal LaneTask<Nothing> Written(CacheGroup group)
    {
        if (!_isWriting)
        {
            WriteGroups().Forget();
        }

        return group.Extents > 0 ? group.Written.Wait() : LaneTask.FromResult(default(Nothing));
    }

    /// <summary>Makes every complete record durable.</summary>
    internal async LaneTask<IoError> Flush()
    {
        long covered = Head;
        if (covered <= Durable)
        {
            return IoError.None;
        }

        IoError error = await FlushMedium();
        if (error == IoError.None)
        {
            Durable = Math.Max(Durable, covered);
            RequireOrder();
            StateEnd();
        }

        return error;
    }

    /// <summary>A flush that failed on the last copy: a later one may succeed and prove nothing.</summary>
    private async LaneTask<IoError> FlushMedium()
    {
        FlushFault = FlushFault == IoError.None ? await _medium.Flush() : FlushFault;
        return FlushFault;
    }

    /// <summary>Writes an anchor, durably on every live copy: everything before the tail is on the backing store. The space is not free yet.</summary>
    internal async LaneTask<IoError> WriteAnchor(long tail, uint checksumBefore)
    {
        await BeginAnchor();
        return await WriteNextAnchor(tail, checksumBefore);
    }

    /// <summary>Says once more where the tail is, and what is durable by now.</summary>
    internal async LaneTask<IoError> WriteAnchor()
    {
        await BeginAnchor();
        return await WriteNextAnchor(_anchoredTail, _anchoredChecksum);
    }

    /// <summary>Completes when nothing is under way in the ring that no request waits for.</summary>
    internal async LaneTask<Nothing> Settle()
    {
        while (_isWriting || _isFlushing || _isPublishing)
        {
            await _settled.Wait();
        }

        return default;
    }

    /// <summary>Frees the space before a position: its anchor is durable and no reader uses it any more.</summary>
    /// <param name="tail">Position of the first record that is still needed.</param>
    /// <param name="isGivenUp">Whether the ring is given up: nothing is appended to it any more, and its anchors state nothing.</param>
    internal void Free(long tail, bool isGivenUp)
    {
        Invariant.That(tail >= Tail && (isGivenUp || tail <= _anchoredTail), "Space is used again only after the anchor that gives it free is durable.");
        Tail = tail;
        _summary.Trim(tail);
        if (!isGivenUp)
        {
            RequireOrder();
        }
    }

    /// <summary>States the end: what is behind it on no copy is missing, and not a torn tail.</summary>
    internal void StateEnd() => End?.State(_session, (ulong)Head, (ulong)Durable);

    private void RequireOrder() => Invariant.That(
        Tail <= Durable && Durable <= Head && Head <= Tail + Length, "Tail <= Durable <= Head <= Tail + Length.");

    /// <summary>Reads payload that follows each other from a position, verified: of the less busy copy first, of the others where it is wrong.</summary>
    internal async LaneTask<IoError> Read(long position, IoBuffer target, WriteCacheCounters counters)
    {
        int wrong = 0;   // copies that gave something else, bit per copy
        int first = _medium.LeastBusy();
        for (int i = 0; i < _medium.Copies; i++)
        {
            int copy = (first + i) % _medium.Copies;
            IoError error = await _medium.Read(copy, OffsetOf(position, Length), target.ForbidKeeping());
            if (error == IoError.None && Matches(position, target))
            {
                await Heal(wrong, position, target, counters);
                return IoError.None;
            }

            wrong |= error is IoError.DeviceGone or IoError.NoDevice ? 0 : 1 << copy;
        }

        return target.Length == BlockSize ? Lost(counters) : await ReadSingly(position, target, counters);
    }

    /// <summary>
    /// Whether every copy that takes part gives an anchor: then what none of them gives is lost. A disk that gives nothing at all is only out of
    /// reach, or is about to leave.
    /// </summary>
    internal async LaneTask<bool> IsWithinReach()
    {
        bool all = _medium.HasSource;
        IoBuffer block = _lane.Buffers.Rent(BlockSize);
        for (int copy = 0; copy < _medium.Copies && all; copy++)
        {
            bool found = _medium.IsStale(copy);
            for (int slot = 0; slot < CacheAnchor.Slots && !found; slot++)
            {
                found = await _medium.Read(copy, slot * BlockSize, block.ForbidKeeping()) == IoError.None
                    && CacheAnchor.TryRead(block.Span, _owner, out CacheAnchor anchor) && anchor.Session == _session;
            }

            all = found;
        }

        _lane.Buffers.Return(block);
        return all;
    }

    internal void Release()
    {
        _open.Release();
        _other.Release();
        _summary.Release();
    }

    private static IoError Lost(WriteCacheCounters counters)
    {
        counters.NoteBlockLost();
        return IoError.Io;
    }

    /// <summary>No copy has all of it: block by block, from whichever copy has it.</summary>
    private async LaneTask<IoError> ReadSingly(long position, IoBuffer target, WriteCacheCounters counters)
    {
        IoError error = IoError.None;
        for (int at = 0; at < target.Length && error == IoError.None; at += BlockSize)
        {
            error = await Read(position + (at / BlockSize), target.Slice(at, BlockSize), counters);
        }

        return error;
    }

    private async LaneTask<Nothing> Heal(int wrong, long position, IoBuffer good, WriteCacheCounters counters)
    {
        for (int copy = 0; copy < _medium.Copies && wrong != 0; copy++)
        {
            if ((wrong >> copy & 1) != 0 && await _medium.Heal(copy, OffsetOf(position, Length), good.ForbidKeeping()) == IoError.None)
            {
                counters.NoteHealed(good.Length / BlockSize);
            }
        }

        return default;
    }

    private bool Matches(long position, IoBuffer data)
    {
        for (int i = 0; i < data.Length / BlockSize; i++)
        {
            if (Crc32c.Compute(data.Span.Slice(i * BlockSize, BlockSize)) != _checksums[(position + i) % Length])
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Returns the position of a record of this size after the records that end at <paramref name="end"/>: a record does not wrap.</summary>
    private long PlaceFor(long end, int blocks)
    {
        long left = Length - (end % Length);
        return left < blocks ? end + left : end;
    }

    private async LaneTask WriteGroups()
    {
        _isWriting = true;
        while (_open.Extents > 0)
        {
            CacheGroup group = _open;
            _open = _other;
            _other = group;
            long position = PlaceFor(_writingEnd, group.Blocks);
            Invariant.That(
                position >= _writingEnd && (position % Length) + group.Blocks <= Length && position + group.Blocks <= Tail + Length,
                "A record follows the one before, does not wrap, and covers nothing that is still needed.");
            _writingEnd = position + group.Blocks;
            GroupBegun.NotifyAll();
            if (Fault == IoError.None)
            {
                CacheRecord record = new(_owner, _session, position, Durable, _headChecksum, group.Extents, group.PayloadBlocks);
                uint checksum = record.Seal(group.Header);
                Fault = await _medium.Write(OffsetOf(position, Length), group.Record);
                Complete(group.Header, record, checksum);
            }

            group.Written.NotifyAll();
            group.Reset();
            if (_summary.IsDue && Fault == IoError.None)
            {
                await WriteSummary();
            }
        }

        _isWriting = false;
        _settled.NotifyAll();
    }

    private void Complete(ReadOnlySpan<byte> header, CacheRecord record, uint checksum)
    {
        if (Fault != IoError.None)
        {
            _writingEnd = Head;
            return;
        }

        CacheRecord.ReadChecksums(header)[..record.PayloadBlocks].CopyTo(_checksums.AsSpan((int)((record.Position + 1) % Length)));
        _headChecksum = checksum;
        Head = _writingEnd;
        RequireOrder();
        StateEnd();
        if (!record.IsSummary)
        {
            _summary.Add(header, record, checksum);
        }

        OnRecord(header, record, checksum);
        if (Head - Durable > FlushEveryBlocks && !_isFlushing)
        {
            FlushBehind().Forget();
        }
    }

    /// <summary>Appends the summary that is due, unless writes that have joined the next record leave it no room: then after that one.</summary>
    private async LaneTask<Nothing> WriteSummary()
    {
        long position = PlaceFor(_writingEnd, _summary.Blocks);
        long end = position + _summary.Blocks;
        if (PlaceFor(end, _open.Blocks) + _open.Blocks > Tail + Length)
        {
            return default;
        }

        _writingEnd = end;
        CacheRecord record = new(_owner, _session, position, Durable, _headChecksum, Extents: 0, _summary.PayloadBlocks);
        uint checksum = _summary.Seal(record);
        Fault = await _medium.Write(OffsetOf(position, Length), _summary.Record);
        Complete(_summary.Record.Span[..BlockSize], record, checksum);
        if (Fault == IoError.None)
        {
            _summary.Note(position, checksum);
            if (!_isPublishing)
            {
                Publish().Forget();
            }
        }

        return default;
    }

    /// <summary>Makes the newest summary durable and names it.</summary>
    private async LaneTask Publish()
    {
        _isPublishing = true;
        if (await Flush() == IoError.None && Fault == IoError.None)
        {
            await WriteAnchor();
        }

        _isPublishing = false;
        _settled.NotifyAll();
    }

    private async LaneTask FlushBehind()
    {
        _isFlushing = true;
        await Flush();
        _isFlushing = false;
        _settled.NotifyAll();
    }

    private async LaneTask<Nothing> BeginAnchor()
    {
        while (_isAnchoring)
        {
            await _anchorWritten.Wait();
        }

        _isAnchoring = true;
        return default;
    }

    private async LaneTask<IoError> WriteNextAnchor(long tail, uint checksumBefore)
    {
        Invariant.That(tail >= _anchoredTail, "The tail that anchors state never falls.");
        IoBuffer block = _lane.Buffers.Rent(BlockSize);
        _anchor++;
        (long summary, uint checksum) = _summary.NewestBefore(Durable);
        new CacheAnchor(_owner, _session, _anchor, tail, Math.Max(Durable, tail), checksumBefore) { Summary = summary, SummaryChecksum = checksum }
            .Encode(block.Span);
        IoError error = await _medium.Write((long)(_anchor % CacheAnchor.Slots) * BlockSize, block);
        _lane.Buffers.Return(block);
        error = error == IoError.None ? await FlushMedium() : error;
        if (error == IoError.None)
        {
            (_anchoredTail, _anchoredChecksum) = (tail, checksumBefore);
        }

        _isAnchoring = false;
        _anchorWritten.NotifyAll();
        return error;
    }
}
