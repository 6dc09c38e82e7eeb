using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Blocks that no copy could give. A lost block is a fault of the space: reading it again says nothing new about its disks.
//
// Invariants
//  1. A block is listed from the read or scrub that found it lost until it is written, zeroed or unmapped, or until a copy gives it.
//  2. Findings of a listed block are neither counted nor reported again.
//  3. The list has at most LostBlocksMax blocks; what is beyond is found again at each read.

public sealed partial class Space
{
    /// <summary>Most blocks that are listed.</summary>
    internal const int LostBlocksMax = 4096;

    private readonly SortedSet<long> _lost = [];   // addresses in the space

    /// <summary>Addresses of the blocks that no copy could give and that were not written since, ascending.</summary>
    internal IReadOnlyCollection<long> LostBlocks => _lost;

    private bool IsListedLost(StripPiece block) => _lost.Count > 0 && _lost.Contains(AddressOf(block));

    private void ListLost(StripPiece block)
    {
        if (_lost.Count < LostBlocksMax)
        {
            _lost.Add(AddressOf(block));
        }
    }

    /// <summary>Blocks were written, zeroed or read.</summary>
    private void UnlistLost(StripPiece piece)
    {
        for (int at = 0; _lost.Count > 0 && at < piece.Length; at += BlockSize)
        {
            _lost.Remove(AddressOf(piece with { SlabOffset = piece.SlabOffset + at }));
        }
    }

    /// <summary>A row was given back: all of it reads as zeros.</summary>
    private void UnlistLostRow(int row)
    {
        if (_lost.Count > 0)
        {
            _lost.RemoveWhere(address => address / _shape.RowSize == row);
        }
    }

    private long AddressOf(StripPiece piece) => StripeGeometry.AddressOf(_shape, piece.Row, piece.Column, piece.SlabOffset);
}
