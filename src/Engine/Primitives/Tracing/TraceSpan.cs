namespace TierSpaces.Engine.Primitives;

/// <summary>Time that a request spent in a layer.</summary>
/// <param name="Request">Number of the request in the process.</param>
/// <param name="Layer">The layer.</param>
/// <param name="Operation">The operation there, as its layer numbers it: the command of a client, the operation of a member disk.</param>
/// <param name="StartNs">Begin on the clock of the lane, in nanoseconds.</param>
/// <param name="EndNs">End on the same clock, in nanoseconds.</param>
/// <param name="Offset">First byte in the store of that layer; −1: none.</param>
/// <param name="Length">Bytes.</param>
/// <param name="Source">The export or the member disk; null in other layers.</param>
public readonly record struct TraceSpan(
    ulong Request, TraceLayer Layer, byte Operation, long StartNs, long EndNs, long Offset, long Length, object? Source);
