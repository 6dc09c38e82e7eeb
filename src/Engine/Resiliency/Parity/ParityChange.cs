namespace TierSpaces.Engine.Resiliency;

/// <summary>Effects of a change on the strips of its lines; one bit a strip, no strip in two of them.</summary>
/// <param name="Written">Strips that are written from memory.</param>
/// <param name="Zeroed">Strips that become never-written.</param>
/// <param name="Poisoned">Strips that become poisoned.</param>
internal readonly record struct ParityChange(ulong Written, ulong Zeroed = 0, ulong Poisoned = 0);
