using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.X86;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Entries of 512 blocks of one column of a row, in three ages:
//
//   current   what the next read is judged by                        Checksums, Generations
//   logged    what the durable part of the integrity log says        the same, or the retained pair when they differ
//   on disk   what the checksum pages of every copy hold             differs from logged when OldestUnwritten is not 0
//
// Invariants
//  1. A block is Changed (not captured since it changed), Flushing (captured, not yet in the log), or current = last appended.
//  2. The retained pair exists while any block is Changed, Flushing or appended but not durable (Pending).
//  3. A page leaves memory only when nothing of it is newer than its copies on disk and no request uses it.
//
// Entries lie inside the object: a request on a page that has not been used for a while waits for memory once, not once for each of
// several arrays and their lengths.

/// <summary>One checksum page in memory.</summary>
internal sealed class ChecksumPage
{
    internal const int Blocks = SpaceShape.BlocksPerPage;

    [ThreadStatic]
    private static Stack<(uint[] Checksums, ushort[] Generations)>? s_pairs;

    private uint[]? _loggedChecksums;
    private ushort[]? _loggedGenerations;
    private ushort[]? _zerosPending;   // per block, zeroed runs appended and not durable
    private int _pins;
    private BlockBits _changed;
    private BlockBits _flushing;
    private BlockGenerations _generations;
    private BlockChecksums _checksums;

    internal SpaceRow Row { get; private set; } = null!;

    internal int Column { get; private set; }

    internal int Index { get; private set; }

    internal Span<uint> Checksums => _checksums;

    internal Span<ushort> Generations => _generations;

    /// <summary>Requests that use the page; it stays in memory meanwhile.</summary>
    internal int Pins
    {
        get => _pins;
        set
        {
            Invariant.That(value >= 0, "A request lets go only of a page that it holds.");
            _pins = value;
        }
    }

    /// <summary>Changed or captured blocks, and entries appended but not durable.</summary>
    internal int ChangedCount { get; private set; }

    internal int FlushingCount { get; private set; }

    internal int PendingCount { get; set; }

    /// <summary>Oldest log block with an entry that the copies on disk lack; 0: none.</summary>
    internal ulong OldestUnwritten { get; set; }

    /// <summary>Latest log block with an entry of this page.</summary>
    internal ulong LatestLogged { get; set; }

    /// <summary>
    /// Regions whose entries no disk that is there can tell: poisoned here until one comes back. Meanwhile the page is not written.
    /// </summary>
    internal ushort Unknown { get; set; }

    /// <summary>Listed among the changed pages of the space.</summary>
    internal bool IsListed { get; set; }

    /// <summary>Touched since the cache last looked.</summary>
    internal bool IsReferenced { get; set; }

    /// <summary>Whether entries were read from disk: until then only its loader may use the page.</summary>
    internal bool IsLoaded { get; set; }

    internal bool IsEvictable => Pins == 0 && IsLoaded && OldestUnwritten == 0 && ChangedCount == 0 && FlushingCount == 0 && PendingCount == 0;

    internal ReadOnlySpan<uint> LoggedChecksums => _loggedChecksums is { } logged ? logged : _checksums;

    internal ReadOnlySpan<ushort> LoggedGenerations => _loggedGenerations is { } logged ? logged : _generations;

    internal void Assign(SpaceRow row, int column, int index)
    {
        Invariant.That(IsEvictable || !IsLoaded, "A page leaves memory only when nothing of it is newer than its copies on disk and no request uses it.");
        Row = row;
        Column = column;
        Index = index;
        OldestUnwritten = LatestLogged = 0;
        Unknown = 0;
        IsLoaded = false;
        Checksums.Clear();
        Generations.Clear();
    }

    /// <summary>Prefetches the page and the entry of a block into the processor's caches, before a request is known. Does not wait.</summary>
    internal void PrefetchPage(int block)
    {
        if (Sse.IsSupported)
        {
            Touch(ref _pins);
            Touch(ref _generations[block]);
            Touch(ref _checksums[block]);
        }
    }

    /// <summary>Prefetches the entry of a block, and what a change of it touches, for a request that has begun. Does not wait.</summary>
    internal void PrefetchEntry(int block)
    {
        if (Sse.IsSupported)
        {
            Touch(ref _generations[block]);
            Touch(ref _checksums[block]);
            Touch(ref _changed[block >> 6]);
            if (_loggedGenerations is { } logged)
            {
                Touch(ref logged[block]);
            }
        }
    }

    /// <summary>
    /// Whether the log, as far as any crash may leave it, can say that the block was never written, or is lost: then its bytes may be a
    /// former owner's or outdated, and its next entry is a first one.
    /// </summary>
    internal bool IsUnlogged(int block) =>
        LoggedGenerations[block] is ChecksumSector.NeverWritten or ChecksumSector.Poisoned
        || (_zerosPending is not null && _zerosPending[block] != 0);

    internal bool IsChanged(int block) => Bit(in _changed, block);

    internal bool IsFlushing(int block) => Bit(in _flushing, block);

    /// <summary>A write has completed: the block's data is now this.</summary>
    internal void Set(int block, uint checksum)
    {
        KeepLogged();
        Checksums[block] = checksum;
        ushort next = (ushort)(Generations[block] + 1);
        Generations[block] = next is ChecksumSector.NeverWritten or ChecksumSector.Poisoned ? (ushort)1 : next;
        NoteChanged(block);
    }

    /// <summary>What the block held is lost: an error from now on, until it is written or zeroed.</summary>
    internal void Poison(int block)
    {
        KeepLogged();
        Checksums[block] = 0;
        Generations[block] = ChecksumSector.Poisoned;
        NoteChanged(block);
    }

    /// <summary>The block is never-written from now on; whatever was to be logged of it is not.</summary>
    internal void Reset(int block)
    {
        KeepLogged();
        Checksums[block] = 0;
        Generations[block] = ChecksumSector.NeverWritten;
        ChangedCount -= ClearBit(ref _changed, block);
        FlushingCount -= ClearBit(ref _flushing, block);
        RequireCounts();
    }

    /// <summary>A zeroed run of these blocks was appended.</summary>
    internal void NoteZeroAppended(int block, int count)
    {
        _zerosPending ??= new ushort[Blocks];
        foreach (ref ushort pending in _zerosPending.AsSpan(block, count))
        {
            pending++;
        }
    }

    /// <summary>Moves every changed block to flushing and hands it to <paramref name="capture"/>.</summary>
    internal void Capture(List<CapturedEntry> capture)
    {
        for (int word = 0; word < Blocks / 64; word++)
        {
            for (ulong bits = _changed[word]; bits != 0; bits &= bits - 1)
            {
                int block = (word * 64) + BitOperations.TrailingZeroCount(bits);
                capture.Add(new CapturedEntry(this, (ushort)block, Generations[block], Checksums[block]));
                FlushingCount += Bit(in _flushing, block) ? 0 : 1;
            }

            _flushing[word] |= _changed[word];
            _changed[word] = 0;
        }

        ChangedCount = 0;
        RequireCounts();
    }

    /// <summary>A captured block was appended, or taken back.</summary>
    internal void EndFlushing(int block)
    {
        FlushingCount -= ClearBit(ref _flushing, block);
        RequireCounts();
    }

    /// <summary>An appended entry is durable.</summary>
    internal void NoteLogged(int block, int count, ushort generation, uint checksum)
    {
        if (_loggedGenerations is not null)
        {
            _loggedGenerations.AsSpan(block, count).Fill(generation);
            _loggedChecksums.AsSpan(block, count).Fill(checksum);
        }

        if (generation == ChecksumSector.NeverWritten)
        {
            foreach (ref ushort pending in _zerosPending.AsSpan(block, count))
            {
                pending--;
            }
        }

        PendingCount--;
        Invariant.That(PendingCount >= 0, "An entry becomes durable once, after it was appended.");
        DropLoggedWhenEqual();
    }

    /// <summary>Sets current and logged at once: used where nothing is pending, at open.</summary>
    internal void Load(int block, ushort generation, uint checksum)
    {
        Checksums[block] = checksum;
        Generations[block] = generation;
    }

    /// <summary>An entry that was not known has become so; nothing newer of it is in the log.</summary>
    internal void Learn(int block, ushort generation, uint checksum)
    {
        if (_loggedGenerations is not null)
        {
            _loggedGenerations[block] = generation;
            _loggedChecksums![block] = checksum;
        }

        Load(block, generation, checksum);
    }

    /// <summary>Forgets everything: the row is gone.</summary>
    internal void Clear()
    {
        _changed = _flushing = default;
        ChangedCount = FlushingCount = 0;
        OldestUnwritten = 0;
        DropLoggedWhenEqual();
    }

    internal void DropLoggedWhenEqual()
    {
        if (_loggedGenerations is not null && ChangedCount == 0 && FlushingCount == 0 && PendingCount == 0)
        {
            (s_pairs ??= new()).Push((_loggedChecksums!, _loggedGenerations));
            _loggedChecksums = null;
            _loggedGenerations = null;
        }
    }

    private void NoteChanged(int block)
    {
        if (!Bit(in _changed, block))
        {
            _changed[block >> 6] |= 1UL << (block & 63);
            ChangedCount++;
        }

        Invariant.That(_loggedGenerations is not null, "The pair is retained while a block is changed.");
        RequireCounts();
    }

    private void RequireCounts()
    {
        if (Invariant.ChecksCostly)
        {
            Invariant.That(ChangedCount == CountOf(in _changed) && FlushingCount == CountOf(in _flushing),
                "Changed and flushing blocks are as many as are marked.");
        }
    }

    private void KeepLogged()
    {
        if (_loggedGenerations is not null)
        {
            return;
        }

        (_loggedChecksums, _loggedGenerations) = s_pairs is { Count: > 0 } pairs ? pairs.Pop() : (new uint[Blocks], new ushort[Blocks]);
        Checksums.CopyTo(_loggedChecksums);
        Generations.CopyTo(_loggedGenerations);
    }

    /// <summary>The collector may move the place meanwhile: then something else is sent for.</summary>
    private static unsafe void Touch<T>(ref T place)
        where T : unmanaged => Sse.Prefetch0(Unsafe.AsPointer(ref place));

    private static int CountOf(in BlockBits bits)
    {
        int count = 0;
        for (int word = 0; word < Blocks / 64; word++)
        {
            count += BitOperations.PopCount(bits[word]);
        }

        return count;
    }

    private static bool Bit(in BlockBits bits, int index) => ((bits[index >> 6] >> (index & 63)) & 1) != 0;

    private static int ClearBit(ref BlockBits bits, int index)
    {
        int was = (int)((bits[index >> 6] >> (index & 63)) & 1);
        bits[index >> 6] &= ~(1UL << (index & 63));
        return was;
    }

    [InlineArray(Blocks / 64)]
    private struct BlockBits
    {
        private ulong _first;
    }

    [InlineArray(Blocks)]
    private struct BlockGenerations
    {
        private ushort _first;
    }

    [InlineArray(Blocks)]
    private struct BlockChecksums
    {
        private uint _first;
    }
}

/// <summary>An entry as it was when a flush began.</summary>
internal readonly record struct CapturedEntry(ChecksumPage Page, ushort Block, ushort Generation, uint Checksum);
