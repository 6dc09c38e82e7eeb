using System.Diagnostics.Tracing;

namespace TierSpaces.Engine.Primitives;

/// <summary>Event source <c>TierSpaces-Requests</c>: an event for each layer and request, for tools such as <c>dotnet-trace</c>.</summary>
[EventSource(Name = "TierSpaces-Requests")]
internal sealed class RequestEvents : EventSource
{
    private bool _hasListeners;

    private RequestEvents()
    {
    }

    /// <summary>The only one.</summary>
    internal static RequestEvents Log { get; } = new();

    /// <summary>A request has left a layer.</summary>
    /// <param name="request">Number of the request in the process.</param>
    /// <param name="layer">See <see cref="TraceLayer"/>.</param>
    /// <param name="operation">The operation, as its layer numbers it.</param>
    /// <param name="durationNs">Time in the layer, in nanoseconds.</param>
    /// <param name="offset">First byte in the store of that layer; −1: none.</param>
    /// <param name="length">Bytes.</param>
    [Event(1)]
    internal unsafe void Layer(ulong request, int layer, int operation, long durationNs, long offset, long length)
    {
        EventData* data = stackalloc EventData[6];
        data[0] = new EventData { DataPointer = (nint)(&request), Size = sizeof(ulong) };
        data[1] = new EventData { DataPointer = (nint)(&layer), Size = sizeof(int) };
        data[2] = new EventData { DataPointer = (nint)(&operation), Size = sizeof(int) };
        data[3] = new EventData { DataPointer = (nint)(&durationNs), Size = sizeof(long) };
        data[4] = new EventData { DataPointer = (nint)(&offset), Size = sizeof(long) };
        data[5] = new EventData { DataPointer = (nint)(&length), Size = sizeof(long) };
        WriteEventCore(1, 6, data);
    }

    /// <inheritdoc/>
    protected override void OnEventCommand(EventCommandEventArgs command)
    {
        bool any = IsEnabled();
        if (any != _hasListeners)
        {
            _hasListeners = any;
            RequestTrace.NoteListeners(any);
        }
    }
}
