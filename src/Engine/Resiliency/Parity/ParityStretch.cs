using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Lines of parity that follow each other in one stripe: the same offsets in the slabs of all columns of a row.
//
// Strips are numbered by what they hold, as the arithmetic has them: 0 to D − 1 data, D is P, D + 1 is Q.
//
// Invariants
//  1. The pages of all columns are pinned from Begin to End.
//  2. Never-written and poisoned blocks are zeros in memory, whatever their bytes on disk are. A marked block counts in the parity as what its entry says.
//  3. A strip that is Held is as its entries say; a strip that is Found was read and need not be. One that is Silent could not be read.

/// <summary>Lines of one stripe in memory.</summary>
internal sealed class ParityStretch
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly ParityLayout _layout;
    private readonly SpaceShape _shape;
    private readonly BufferPool _buffers;
    private readonly IoBuffer[] _strips;
    private readonly ChecksumPage?[] _pages;
    private readonly uint[]?[] _checksums;   // of what is written, by strip
    private readonly int[] _tickets;         // of the records of what is written, by strip
    private IoBuffer _memory;
    private int _stripe;

    internal ParityStretch(ParityLayout layout, SpaceShape shape, BufferPool buffers)
    {
        (_layout, _shape, _buffers) = (layout, shape, buffers);
        _strips = new IoBuffer[shape.Columns];
        _pages = new ChecksumPage?[shape.Columns];
        _checksums = new uint[]?[shape.Columns];
        _tickets = new int[shape.Columns];
        Array.Fill(_tickets, WriteRecords.None);
    }

    internal SpaceRow Row { get; private set; } = null!;

    /// <summary>Offset in the slabs, in bytes.</summary>
    internal int SlabOffset { get; private set; }

    /// <summary>Bytes of each strip.</summary>
    internal int Length { get; private set; }

    internal int Blocks => Length / BlockSize;

    /// <summary>Number of its first block in the pages.</summary>
    internal int FirstBlock => _shape.BlockInPage(SlabOffset);

    /// <summary>Strips in memory that match their entries, bit per strip.</summary>
    internal ulong Held { get; private set; }

    /// <summary>Strips that were read, bit per strip.</summary>
    internal ulong Found { get; private set; }

    /// <summary>Strips that could not be read for another reason than bad sectors, bit per strip: their disks may answer later.</summary>
    internal ulong Silent { get; private set; }

    internal int Strips => _strips.Length;

    internal int DataStrips => _shape.DataColumns;

    /// <summary>All strips, bit per strip.</summary>
    internal ulong AllStrips => Strips == 64 ? ulong.MaxValue : (1UL << Strips) - 1;

    /// <summary>Strips of data, bit per strip.</summary>
    internal ulong DataMask => (1UL << DataStrips) - 1;

    /// <summary>Strips of parity, bit per strip.</summary>
    internal ulong ParityStrips => AllStrips & ~DataMask;

    internal ReadOnlySpan<IoBuffer> Data => _strips.AsSpan(0, DataStrips);

    internal IoBuffer P => _strips[DataStrips];

    /// <summary>Q; a default buffer with single parity.</summary>
    internal IoBuffer Q => _shape.Parities > 1 ? _strips[DataStrips + 1] : default;

    internal IoBuffer this[int strip] => _strips[strip];

    /// <summary>Takes lines and memory for them. All pages are pinned, or the answer is an error and nothing was begun.</summary>
    internal async LaneTask<IoError> Begin(SpaceRow row, int slabOffset, int length, IntegrityStore integrity)
    {
        (Row, SlabOffset, Length) = (row, slabOffset, length);
        (Held, Found, Silent) = (0, 0, 0);
        _stripe = slabOffset / _shape.Interleave;
        for (int strip = 0; strip < _strips.Length; strip++)
        {
            StripPiece piece = PieceOf(strip);
            if ((integrity.Find(row, piece) ?? await integrity.Load(row, piece)) is not { } page)
            {
                Unpin();
                return IoError.Io;
            }

            page.Pin();
            _pages[strip] = page;
        }

        _memory = _buffers.Rent(length * _strips.Length);
        for (int strip = 0; strip < _strips.Length; strip++)
        {
            _strips[strip] = _memory.Slice(strip * length, length);
        }

        return IoError.None;
    }

    /// <summary>Records what is about to be written of some strips. The caller has made room.</summary>
    internal void BeginRecords(ulong written, WriteRecords records, bool isKept)
    {
        for (int strip = 0; strip < Strips; strip++)
        {
            _tickets[strip] = isKept && (written >> strip & 1) != 0
                ? records.Begin(PieceOf(strip), _strips[strip], _checksums[strip]!) : WriteRecords.None;
        }
    }

    /// <summary>Marks the records of what was written as acknowledged.</summary>
    internal void AcknowledgeRecords(WriteRecords records)
    {
        foreach (ref int ticket in _tickets.AsSpan())
        {
            records.Acknowledge(ticket);
            ticket = WriteRecords.None;
        }
    }

    /// <summary>Ends the records of what was written and is not acknowledged.</summary>
    internal void EndRecords(WriteRecords records)
    {
        foreach (ref int ticket in _tickets.AsSpan())
        {
            records.End(ticket);
            ticket = WriteRecords.None;
        }
    }

    /// <summary>Leaves the records of what was written open: the space has stopped, and the next open of it judges what they say.</summary>
    internal void LeaveRecords() => Array.Fill(_tickets, WriteRecords.None);

    /// <summary>Gives pages and memory back.</summary>
    internal void End()
    {
        Invariant.That(!_tickets.AsSpan().ContainsAnyExcept(WriteRecords.None), "The records of lines end before the lines do.");
        Unpin();
        _buffers.Return(_memory);
        Row = null!;
    }

    /// <summary>Number of the strip that a column holds.</summary>
    internal int StripOf(int column) => _layout.StripOf(_stripe, column) is >= 0 and int strip ? strip : DataStrips - 1 - _layout.StripOf(_stripe, column);

    /// <summary>Column, and so position of the row, that holds a strip.</summary>
    internal int ColumnOf(int strip) =>
        strip < DataStrips ? _layout.DataColumn(_stripe, strip) : _layout.ParityColumn(_stripe, strip - DataStrips);

    internal StripPiece PieceOf(int strip) => new(Row.Index, ColumnOf(strip), SlabOffset, Length);

    internal ChecksumPage PageOf(int strip) => _pages[strip]!;

    internal ushort Entry(int strip, int block) => PageOf(strip).Generations[FirstBlock + block];

    /// <summary>Whether no block of a strip was ever written.</summary>
    internal bool IsEmpty(int strip) => !PageOf(strip).Generations.Slice(FirstBlock, Blocks).ContainsAnyExcept(ChecksumSector.NeverWritten);

    internal bool HasPoison(int strip) => PageOf(strip).Generations.Slice(FirstBlock, Blocks).Contains(ChecksumSector.Poisoned);

    /// <summary>Whether a block of a strip is lost, in doubt or unknown, or of parity: not that of the data.</summary>
    internal bool HasMark(int strip) => PageOf(strip).Generations.Slice(FirstBlock, Blocks).ContainsAnyInRange(ChecksumSector.Unknown, ChecksumSector.Poisoned);

    internal bool HasMarkedParity => HasMark(DataStrips) || HasMark(Strips - 1);

    internal bool IsHeld(int strip) => (Held >> strip & 1) != 0;

    internal bool IsFound(int strip) => (Found >> strip & 1) != 0;

    internal bool IsSilent(int strip) => (Silent >> strip & 1) != 0;

    internal void SetSilent(int strip) => Silent |= 1UL << strip;

    /// <summary>Takes back that a strip was read.</summary>
    internal void Forget(int strip)
    {
        Held &= ~(1UL << strip);
        Found &= ~(1UL << strip);
    }

    internal void SetHeld(int strip)
    {
        Held |= 1UL << strip;
        Found |= 1UL << strip;
    }

    /// <summary>Judges what was read of a strip; blocks that are never-written or poisoned become zeros. Returns whether all others match.</summary>
    internal bool Judge(int strip)
    {
        Found |= 1UL << strip;
        ChecksumPage page = PageOf(strip);
        bool matches = true;
        for (int i = 0; i < Blocks; i++)
        {
            Span<byte> block = _strips[strip].Span.Slice(i * BlockSize, BlockSize);
            if (page.Generations[FirstBlock + i] is ChecksumSector.NeverWritten or ChecksumSector.Poisoned)
            {
                block.Clear();
            }
            else
            {
                matches &= Crc32c.Compute(block) == page.Checksums[FirstBlock + i] && page.Generations[FirstBlock + i] != ChecksumSector.Unknown;
            }
        }

        Held = matches ? Held | (1UL << strip) : Held & ~(1UL << strip);
        return matches;
    }

    /// <summary>Computes the checksums of the blocks of a strip that is to be written.</summary>
    internal uint[] ComputeChecksums(int strip)
    {
        uint[] checksums = _checksums[strip] ??= new uint[ChecksumPage.Blocks];
        for (int i = 0; i < Blocks; i++)
        {
            checksums[i] = Crc32c.Compute(_strips[strip].Span.Slice(i * BlockSize, BlockSize));
        }

        return checksums;
    }

    /// <summary>The checksums that were computed last.</summary>
    internal uint[] ChecksumsOf(int strip) => _checksums[strip]!;

    private void Unpin()
    {
        for (int strip = 0; strip < _pages.Length; strip++)
        {
            if (_pages[strip] is { } page)
            {
                page.Unpin();
                _pages[strip] = null;
            }
        }
    }
}
