using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Blocks that no copy could give. A lost block is a fault of the space: reading it again says nothing new about its disks.
//
// Invariants
//  1. A block is listed from the read or scrub that found it lost until it is written, zeroed or unmapped, or until a copy gives it.
//  2. Findings of a listed block are neither counted nor reported again.
//  3. The list has at most Max blocks; what is beyond is found again at each read.

/// <summary>The lost blocks of a space.</summary>
internal sealed class LostBlocks(ILayout layout)
{
    /// <summary>Most blocks that are listed.</summary>
    internal const int Max = 4096;

    private readonly SortedSet<long> _lost = [];   // addresses in the space

    /// <summary>Addresses of the lost blocks that were not written since, ascending.</summary>
    internal IReadOnlyCollection<long> Addresses => _lost;

    internal bool Contains(in StripPiece block) => _lost.Count > 0 && _lost.Contains(AddressOf(block));

    internal void Add(in StripPiece block)
    {
        if (_lost.Count < Max)
        {
            _lost.Add(AddressOf(block));
        }
    }

    /// <summary>Takes blocks off the list that were written, zeroed or read.</summary>
    internal void Remove(in StripPiece piece)
    {
        bool isInColumn = layout.DepthOf(piece) == piece.Length;   // else its addresses follow each other
        for (int at = 0; _lost.Count > 0 && at < piece.Length; at += SpaceShape.BlockSize)
        {
            _lost.Remove(isInColumn ? AddressOf(piece with { SlabOffset = piece.SlabOffset + at }) : AddressOf(piece) + at);
        }
    }

    /// <summary>Takes the blocks of a row off the list that was given back.</summary>
    internal void RemoveRow(int row)
    {
        if (_lost.Count > 0)
        {
            _lost.RemoveWhere(address => address / layout.RowSize == row);
        }
    }

    private long AddressOf(in StripPiece piece) => layout.AddressOf(piece.Row, piece.Column, piece.SlabOffset);
}
