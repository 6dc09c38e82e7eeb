namespace TierSpaces.Engine.Devices.Emulated;

/// <summary>Requests under way in the medium, the one that ends first on top; equal times in order of arrival.</summary>
internal sealed class EndQueue
{
    private readonly PriorityQueue<EmulatedRequest, (long EndNs, ulong Order)> _queue = new(64);
    private ulong _order;

    /// <summary>Time at which the first request ends; <see cref="long.MaxValue"/> when there is none.</summary>
    internal long FirstEndNs => _queue.TryPeek(out _, out (long EndNs, ulong Order) first) ? first.EndNs : long.MaxValue;

    internal void Add(EmulatedRequest request, long endNs) => _queue.Enqueue(request, (endNs, _order++));

    internal EmulatedRequest TakeFirst() => _queue.Dequeue();
}
