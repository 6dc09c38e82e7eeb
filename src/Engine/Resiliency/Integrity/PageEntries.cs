using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// Invariants
//  1. A block that was never written, or whose entry is not known, has checksum 0.
//  2. A write changes the generation of a block, and never to one that means never written or is a mark.

/// <summary>The current entries of a page, one a block: what the next read is judged by. They lie inside the object that holds them.</summary>
internal struct PageEntries
{
    private BlockGenerations _generations;
    private BlockChecksums _checksums;

    [UnscopedRef]
    internal readonly ReadOnlySpan<ushort> Generations => _generations;

    [UnscopedRef]
    internal readonly ReadOnlySpan<uint> Checksums => _checksums;

    /// <summary>Enters what a write of a block has left.</summary>
    internal void Set(int block, uint checksum)
    {
        ushort next = (ushort)(_generations[block] + 1);
        Load(block, next == ChecksumSector.NeverWritten || ChecksumSector.IsMark(next) ? (ushort)1 : next, checksum);
    }

    /// <summary>Enters that a block is lost. A checksum that is not 0 is that of the value which its place may still hold on a disk that is away.</summary>
    internal void Poison(int block, uint checksum) => Load(block, ChecksumSector.Poisoned, checksum);

    /// <summary>Enters that a block is never-written.</summary>
    internal void Reset(int block) => Load(block, ChecksumSector.NeverWritten, 0);

    /// <summary>Enters what a page on disk or the log says of a block.</summary>
    internal void Load(int block, ushort generation, uint checksum)
    {
        _checksums[block] = checksum;
        _generations[block] = generation;
    }

    /// <summary>Enters what a page on disk says of neighbouring blocks.</summary>
    internal void Load(int block, ReadOnlySpan<ushort> generations, ReadOnlySpan<uint> checksums)
    {
        generations.CopyTo(((Span<ushort>)_generations)[block..]);
        checksums.CopyTo(((Span<uint>)_checksums)[block..]);
    }

    /// <summary>Prefetches the entry of a block into the processor's caches.</summary>
    internal readonly void Prefetch(int block)
    {
        ProcessorCache.Prefetch(in _generations[block]);
        ProcessorCache.Prefetch(in _checksums[block]);
    }

    [InlineArray(ChecksumPage.Blocks)]
    private struct BlockGenerations
    {
        private ushort _first;
    }

    [InlineArray(ChecksumPage.Blocks)]
    private struct BlockChecksums
    {
        private uint _first;
    }
}
