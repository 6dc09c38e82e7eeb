namespace TierSpaces.Engine.Devices;

/// <summary>Reason why a disk may not be pooled.</summary>
/// <param name="Reason">In words; empty if it may.</param>
/// <param name="Kind">Kind of the reason.</param>
public sealed record PoolingObstacle(string Reason, CannotPoolKind Kind)
{
    /// <summary>No reason: the disk may be pooled.</summary>
    public static PoolingObstacle None { get; } = new("", CannotPoolKind.Other);
}
