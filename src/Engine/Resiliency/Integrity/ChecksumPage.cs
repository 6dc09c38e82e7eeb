using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Entries of 512 blocks of one column of a row, in three ages:
//
//   current   what the next read is judged by                        PageEntries
//   logged    what the durable part of the integrity log says        the same, or LoggedEntryPair when they differ
//   on disk   what the checksum pages of every copy hold             differs from logged when OldestUnwritten is not 0
//
// Invariants
//  1. A block is changed (not captured since it changed), flushing (captured, not yet in the log), or current = last appended: PageChanges.
//  2. The pair is retained while any block is changed, flushing or appended but not durable.
//  3. A page leaves memory only when nothing of it is newer than its copies on disk and no request uses it.
//
// The parts of a page are values inside the object: a request on a page that has not been used for a while waits for memory once, not once for each
// of several objects. The fields that every request touches come first, in neighbouring cache lines.

/// <summary>One checksum page in memory.</summary>
internal sealed class ChecksumPage
{
    internal const int Blocks = SpaceShape.BlocksPerPage;

    private PageUse _use;
    private LoggedEntryPair _logged;
    private UnwrittenEntries _unwritten;
    private PageChanges _changes;
    private PageEntries _entries;

    internal SpaceRow Row { get; private set; } = null!;

    internal int Column { get; private set; }

    internal int Index { get; private set; }

    /// <summary>Whether there are entries that no disk which is there can give.</summary>
    internal bool HasUnknown => Generations.Contains(ChecksumSector.Unknown);

    internal ReadOnlySpan<uint> Checksums => _entries.Checksums;

    internal ReadOnlySpan<ushort> Generations => _entries.Generations;

    internal ReadOnlySpan<uint> LoggedChecksums => _logged.Checksums is { } logged ? logged : _entries.Checksums;

    internal ReadOnlySpan<ushort> LoggedGenerations => _logged.Generations is { } logged ? logged : _entries.Generations;

    /// <summary>Oldest log block with an entry that the copies on disk lack; 0: none.</summary>
    internal ulong OldestUnwritten => _unwritten.Oldest;

    /// <summary>Whether entries were read from disk: until then only its loader may use the page.</summary>
    internal bool IsLoaded => _use.IsLoaded;

    internal bool IsEvictable => _use.IsIdle && IsLoaded && OldestUnwritten == 0 && _changes.IsEmpty;

    /// <summary>Makes it the page of a place, not loaded yet.</summary>
    internal void Assign(SpaceRow row, int column, int index)
    {
        Invariant.That(IsEvictable || !IsLoaded, "A page leaves memory only when nothing of it is newer than its copies on disk and no request uses it.");
        Row = row;
        Column = column;
        Index = index;
        _unwritten = default;
        _use.BeginLoading();
        _entries = default;
    }

    /// <summary>A request uses the page; it stays in memory until <see cref="Unpin"/>.</summary>
    internal void Pin() => _use.Pin();

    /// <summary>A request does not use the page any more.</summary>
    internal void Unpin() => _use.Unpin();

    /// <summary>Notes that the page was touched.</summary>
    internal void Reference() => _use.Reference();

    /// <summary>Returns whether the page was touched since the cache last asked.</summary>
    internal bool TakeReference() => _use.TakeReference();

    /// <summary>The entries were read; all may use the page.</summary>
    internal void EndLoading() => _use.EndLoading();

    /// <summary>Prefetches the page and the entry of a block into the processor's caches, before a request is known. Does not wait.</summary>
    internal void PrefetchPage(int block)
    {
        _use.Prefetch();
        _entries.Prefetch(block);
    }

    /// <summary>Prefetches the entry of a block, and what a change of it touches, for a request that has begun. Does not wait.</summary>
    internal void PrefetchEntry(int block)
    {
        _entries.Prefetch(block);
        _changes.Prefetch(block);
        _logged.Prefetch(block);
    }

    /// <summary>
    /// Whether the log, as far as any crash may leave it, can say that the block was never written, or is lost: then its bytes may be a
    /// former owner's or outdated, and its next entry is a first one.
    /// </summary>
    internal bool IsUnlogged(int block) =>
        LoggedGenerations[block] == ChecksumSector.NeverWritten || ChecksumSector.IsMark(LoggedGenerations[block]) || _logged.IsZeroPending(block);

    /// <summary>Whether none of these blocks was ever written.</summary>
    internal bool IsNeverWritten(int block, int count) =>
        Generations[block] == ChecksumSector.NeverWritten && !Generations.Slice(block, count).ContainsAnyExcept(ChecksumSector.NeverWritten);

    /// <summary>
    /// Returns how many blocks, from one on, are never-written now and, whatever of the log a crash leaves, afterwards: no disk is asked for their bytes.
    /// </summary>
    internal int CountDurablyUnwritten(int block, int countMax)
    {
        int count = 0;
        while (count < countMax && Generations[block + count] == ChecksumSector.NeverWritten
            && LoggedGenerations[block + count] == ChecksumSector.NeverWritten && !_logged.IsZeroPending(block + count))
        {
            count++;
        }

        return count;
    }

    /// <summary>Judges data that was read by the entries from a block on. Never-written blocks become zeros; a marked block matches nothing.</summary>
    internal bool Verify(int block, IoBuffer data)
    {
        for (int i = 0; i < data.Length / SpaceShape.BlockSize; i++)
        {
            Span<byte> bytes = data.Slice(i * SpaceShape.BlockSize, SpaceShape.BlockSize).Span;
            switch (Generations[block + i])
            {
                case ChecksumSector.NeverWritten:
                    bytes.Clear();
                    break;
                case ChecksumSector.Poisoned or ChecksumSector.Marked or ChecksumSector.Unknown:
                    return false;
                default:
                    if (Crc32c.Compute(bytes) != Checksums[block + i])
                    {
                        return false;
                    }

                    break;
            }
        }

        return true;
    }

    internal bool IsChanged(int block) => _changes.IsChanged(block);

    internal bool IsFlushing(int block) => _changes.IsFlushing(block);

    /// <summary>A write has completed: the block's data is now this.</summary>
    internal void Set(int block, uint checksum)
    {
        _logged.Retain(in _entries);
        _entries.Set(block, checksum);
        NoteChanged(block);
    }

    /// <summary>
    /// Marks the data of a block as lost: reads return an error from now on, until the block is written or zeroed, or a disk that was away has the value with
    /// this checksum; 0: none is known.
    /// </summary>
    internal void Poison(int block, uint checksum = 0)
    {
        _logged.Retain(in _entries);
        _entries.Poison(block, checksum);
        NoteChanged(block);
    }

    /// <summary>
    /// Marks a block as lost or in doubt: reads return an error until it is written or zeroed, or a copy proves the value with this checksum.
    /// </summary>
    internal void Mark(int block, uint checksum)
    {
        _logged.Retain(in _entries);
        _entries.Load(block, ChecksumSector.Marked, checksum);
        NoteChanged(block);
    }

    /// <summary>The block is never-written from now on; whatever was to be logged of it is not.</summary>
    internal void Reset(int block)
    {
        _logged.Retain(in _entries);
        _entries.Reset(block);
        _changes.Forget(block);
    }

    /// <summary>Lists the page among the changed ones of the space; false when it is listed.</summary>
    internal bool TryList() => _changes.TryList();

    /// <summary>Takes the page off the list of changed ones; false when it is not listed.</summary>
    internal bool TryUnlist() => _changes.TryUnlist();

    /// <summary>Moves every changed block to flushing and hands it to <paramref name="capture"/>; the page is not listed any more.</summary>
    internal void Capture(List<CapturedEntry> capture)
    {
        for (int block = _changes.NextChanged(0); block < Blocks; block = _changes.NextChanged(block + 1))
        {
            capture.Add(new CapturedEntry(this, (ushort)block, Generations[block], Checksums[block]));
        }

        _changes.BeginFlushing();
    }

    /// <summary>A captured block was appended, or taken back.</summary>
    internal void EndFlushing(int block) => _changes.EndFlushing(block);

    /// <summary>An entry of this page was appended to a log block.</summary>
    internal void NoteAppended(ulong sequence)
    {
        _changes.BeginPending();
        _unwritten.NoteAppended(sequence);
    }

    /// <summary>A zeroed run of these blocks was appended.</summary>
    internal void NoteZeroAppended(int block, int count) => _logged.BeginZero(block, count);

    /// <summary>An appended entry is durable.</summary>
    internal void NoteLogged(int block, int count, ushort generation, uint checksum)
    {
        _logged.Set(block, count, generation, checksum);
        if (generation == ChecksumSector.NeverWritten)
        {
            _logged.EndZero(block, count);
        }

        _changes.EndPending();
        DropLoggedWhenEqual();
    }

    /// <summary>Every copy on disk has the entries of the log up to a block of it.</summary>
    internal void NoteWritten(ulong sequence) => _unwritten.NoteWritten(sequence);

    /// <summary>A copy on disk is damaged: the page is written back again, as of a log block.</summary>
    internal void RequireWriteback(ulong sequence) => _unwritten.Require(sequence);

    /// <summary>Sets current and logged at once: used where nothing is pending, at open.</summary>
    internal void Load(int block, ushort generation, uint checksum) => _entries.Load(block, generation, checksum);

    /// <summary>The same for neighbouring blocks.</summary>
    internal void Load(int block, ReadOnlySpan<ushort> generations, ReadOnlySpan<uint> checksums) => _entries.Load(block, generations, checksums);

    /// <summary>The log has entries of the page, in these blocks, that no disk has.</summary>
    internal void NoteFound(ulong oldest, ulong latest) => _unwritten.NoteFound(oldest, latest);

    /// <summary>An entry that was not known has become so; nothing newer of it is in the log.</summary>
    internal void Learn(int block, ushort generation, uint checksum)
    {
        _logged.Set(block, 1, generation, checksum);
        Load(block, generation, checksum);
    }

    /// <summary>Forgets everything: the row is gone.</summary>
    internal void Clear()
    {
        _changes.ForgetAll();
        _unwritten.Forget();
        DropLoggedWhenEqual();
    }

    internal void DropLoggedWhenEqual()
    {
        if (_changes.IsEmpty)
        {
            _logged.Release();
        }
    }

    private void NoteChanged(int block)
    {
        _changes.Mark(block);
        Invariant.That(_logged.IsRetained, "The pair is retained while a block is changed.");
    }
}

/// <summary>An entry as it was when a flush began.</summary>
internal readonly record struct CapturedEntry(ChecksumPage Page, ushort Block, ushort Generation, uint Checksum);
