namespace TierSpaces.Engine.Devices.Emulated;

// Flash behind a link.
//
// A request passes the command gate (the caps: so many reads and writes a second), one of the channels (a fixed time per
// request) and the link (its length over the rate). Reads use the link after the channel, writes before it. All are
// first come, first served, so the end of a request is known when it arrives.
//
// A flush follows the writes that came before it and other flushes; a durable write ends with the cost of a flush.

/// <summary>The figures of a class of flash disk.</summary>
/// <param name="ReadNs">Time of a read in its channel.</param>
/// <param name="WriteNs">Time of a write in its channel.</param>
/// <param name="ReadsPerSecond">Most reads.</param>
/// <param name="WritesPerSecond">Most writes.</param>
/// <param name="Channels">Requests that are served at once.</param>
/// <param name="BytesPerSecond">Rate of the link.</param>
/// <param name="FlushNs">Time of a flush.</param>
internal sealed record FlashParameters(
    long ReadNs, long WriteNs, long ReadsPerSecond, long WritesPerSecond, int Channels, long BytesPerSecond, long FlushNs);

/// <summary>Model of a flash disk.</summary>
internal sealed class FlashModel(FlashParameters parameters) : IMediumModel
{
    private readonly Queue<EmulatedRequest> _waiting = new();
    private readonly double[] _channelFreeNs = new double[parameters.Channels];
    private readonly double _nsPerByte = 1e9 / parameters.BytesPerSecond;
    private double _gateFreeNs;
    private double _linkFreeNs;
    private double _flushFreeNs;
    private double _writesEndNs;      // end of the last of all writes so far

    public long GoesOnAtNs => long.MaxValue;

    public void Arrive(EmulatedRequest request) => _waiting.Enqueue(request);

    public bool TryBegin(long nowNs, out EmulatedRequest request, out long endNs)
    {
        endNs = 0;
        if (!_waiting.TryDequeue(out request!))
        {
            return false;
        }

        endNs = (long)EndNs(request, request.ArrivedNs);   // another lane may begin it, at a later time
        return true;
    }

    public void End(EmulatedRequest request)
    {
    }

    private double EndNs(EmulatedRequest request, double nowNs)
    {
        if (request.Operation == MediumOperation.Flush)
        {
            return EndOfFlush(nowNs);
        }

        bool isRead = request.Operation == MediumOperation.Read;
        double beginNs = PassGate(nowNs, isRead ? parameters.ReadsPerSecond : parameters.WritesPerSecond);
        double transferNs = request.Operation == MediumOperation.Unmap ? 0 : request.Length * _nsPerByte;
        if (isRead)
        {
            return UseLink(UseChannel(beginNs, parameters.ReadNs), transferNs);
        }

        double endNs = UseChannel(UseLink(beginNs, transferNs), parameters.WriteNs);
        _writesEndNs = Math.Max(_writesEndNs, endNs);
        return request.Operation == MediumOperation.DurableWrite ? EndOfFlush(endNs) : endNs;
    }

    private double EndOfFlush(double nowNs) =>
        _flushFreeNs = Math.Max(Math.Max(nowNs, _flushFreeNs), _writesEndNs) + parameters.FlushNs;

    private double PassGate(double nowNs, long perSecond)
    {
        double beginNs = Math.Max(nowNs, _gateFreeNs);
        _gateFreeNs = beginNs + (1e9 / perSecond);
        return beginNs;
    }

    private double UseLink(double nowNs, double transferNs) => _linkFreeNs = Math.Max(nowNs, _linkFreeNs) + transferNs;

    private double UseChannel(double nowNs, long durationNs)
    {
        int first = 0;
        for (int index = 1; index < _channelFreeNs.Length; index++)
        {
            first = _channelFreeNs[index] < _channelFreeNs[first] ? index : first;
        }

        return _channelFreeNs[first] = Math.Max(nowNs, _channelFreeNs[first]) + durationNs;
    }
}
