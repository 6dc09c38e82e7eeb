using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// The entries of a page as the durable part of the integrity log has them, retained as a pair of arrays while they may differ from the current ones.
//
// Invariants
//  1. The pair is a copy of the current entries from before the first change; from then on it changes only with what becomes durable.
//  2. A block with a zeroed run that is appended and not durable counts as unlogged: a crash may leave the run in the log or not.

/// <summary>The logged entries of a page while they may differ from the current ones.</summary>
internal struct LoggedEntryPair
{
    [ThreadStatic]
    private static Stack<(uint[] Checksums, ushort[] Generations)>? s_spare;

    private uint[]? _checksums;
    private ushort[]? _generations;
    private ushort[]? _zerosPending;   // per block, zeroed runs appended and not durable

    /// <summary>Whether the pair is retained.</summary>
    internal readonly bool IsRetained => _generations is not null;

    /// <summary>The logged checksums; null where they are the current ones.</summary>
    internal readonly uint[]? Checksums => _checksums;

    /// <summary>The logged generations; null where they are the current ones.</summary>
    internal readonly ushort[]? Generations => _generations;

    /// <summary>Retains the current entries, before the first of them changes.</summary>
    internal void Retain(in PageEntries current)
    {
        if (IsRetained)
        {
            return;
        }

        (_checksums, _generations) = s_spare is { Count: > 0 } spare ? spare.Pop() : (new uint[ChecksumPage.Blocks], new ushort[ChecksumPage.Blocks]);
        current.Checksums.CopyTo(_checksums);
        current.Generations.CopyTo(_generations);
    }

    /// <summary>Gives the pair up: the current entries are the logged ones again.</summary>
    internal void Release()
    {
        if (IsRetained)
        {
            (s_spare ??= new()).Push((_checksums!, _generations!));
            _checksums = null;
            _generations = null;
        }
    }

    /// <summary>Enters what the log says of blocks from now on.</summary>
    internal readonly void Set(int block, int count, ushort generation, uint checksum)
    {
        if (IsRetained)
        {
            _generations.AsSpan(block, count).Fill(generation);
            _checksums.AsSpan(block, count).Fill(checksum);
        }
    }

    /// <summary>Whether a zeroed run of the block is appended and not durable.</summary>
    internal readonly bool IsZeroPending(int block) => _zerosPending is not null && _zerosPending[block] != 0;

    /// <summary>A zeroed run of these blocks was appended.</summary>
    internal void BeginZero(int block, int count)
    {
        _zerosPending ??= new ushort[ChecksumPage.Blocks];
        foreach (ref ushort pending in _zerosPending.AsSpan(block, count))
        {
            pending++;
        }
    }

    /// <summary>A zeroed run of these blocks is durable.</summary>
    internal readonly void EndZero(int block, int count)
    {
        foreach (ref ushort pending in _zerosPending.AsSpan(block, count))
        {
            pending--;
        }
    }

    /// <summary>Prefetches the logged generation of a block into the processor's caches, where it is retained.</summary>
    internal readonly void Prefetch(int block)
    {
        if (_generations is { } logged)
        {
            ProcessorCache.Prefetch(in logged[block]);
        }
    }
}
