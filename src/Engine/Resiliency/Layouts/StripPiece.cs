namespace TierSpaces.Engine.Resiliency.Layouts;

/// <summary>A part of a request that is in one row, one group and one dirty region.</summary>
/// <param name="Row">Row of the space.</param>
/// <param name="Column">Column in the row where it begins.</param>
/// <param name="SlabOffset">Byte offset in the slab's data.</param>
/// <param name="Length">Length in bytes.</param>
public readonly record struct StripPiece(int Row, int Column, int SlabOffset, int Length);
