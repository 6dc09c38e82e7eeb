namespace TierSpaces.Engine.Devices.Emulated;

// One arm over turning platters.
//
// A request costs: seek (a curve over the distance) + wait until its sector comes round + transfer. The angle of the
// platters is the time, the angle of a sector its place on its track. A request that begins where the last one ended
// costs its transfer only, as look-ahead and the disk's own buffer make it. Of the 32 oldest waiting requests the one
// reached soonest goes first; one that has waited PatienceNs goes before all.
//
// A request begins at the end of the one before it, once that has been ended, or its lane is so late that the disk goes on without it.
//
// A flush waits for what came before it, keeps back what came after, and takes one rotation.

/// <summary>The moving parts of a class of disk.</summary>
/// <param name="SeekMinNs">Seek to the next track.</param>
/// <param name="SeekMeanNs">Mean seek between two random places.</param>
/// <param name="BytesPerSecond">Rate at the media.</param>
internal sealed record RotatingParameters(long SeekMinNs, long SeekMeanNs, long BytesPerSecond);

/// <summary>Model of a rotating disk.</summary>
internal sealed class RotatingModel : IMediumModel
{
    private const int QueueDepth = 32;
    private const long PatienceNs = 500_000_000;
    private const long UnmapNs = 100_000;
    private const double MeanRootOfRandomDistance = 8.0 / 15;   // of |x − y| for x, y uniform in 0..1

    private readonly List<EmulatedRequest> _waiting = new(QueueDepth);
    private readonly double _seekMinNs;
    private readonly double _seekSpanNs;
    private readonly double _nsPerByte;
    private readonly double _rotationNs;
    private readonly long _length;
    private readonly long _trackBytes;
    private long _head;        // byte after the last one transferred
    private EmulatedRequest? _current;   // what it is busy with
    private long _endNs;                 // end of the last request that has begun

    internal RotatingModel(RotatingParameters parameters, long rotationNs, long length)
    {
        _seekMinNs = parameters.SeekMinNs;
        _seekSpanNs = (parameters.SeekMeanNs - parameters.SeekMinNs) / MeanRootOfRandomDistance;
        _nsPerByte = 1e9 / parameters.BytesPerSecond;
        _rotationNs = rotationNs;
        _trackBytes = Math.Max(4096, (long)(rotationNs / _nsPerByte));
        _length = length;
    }

    public long GoesOnAtNs => _current is null ? long.MaxValue : _endNs + EmulatedMedium.LagMaxNs;

    public void Arrive(EmulatedRequest request) => _waiting.Add(request);

    public bool TryBegin(long nowNs, out EmulatedRequest request, out long endNs)
    {
        request = null!;
        endNs = 0;
        if (_waiting.Count == 0 || (_current is not null && nowNs < GoesOnAtNs))
        {
            return false;
        }

        long beginNs = Math.Max(_endNs, _current is null ? nowNs : nowNs - EmulatedMedium.LagMaxNs);
        int index = Choose(beginNs);
        request = _waiting[index];
        _waiting.RemoveAt(index);
        _current = request;
        _endNs = endNs = beginNs + (long)CostNs(request, beginNs);
        if (IsTransfer(request))
        {
            _head = request.Offset + request.Length;
        }

        return true;
    }

    public void End(EmulatedRequest request) => _current = _current == request ? null : _current;

    private int Choose(long nowNs)
    {
        if (!IsTransfer(_waiting[0]) || nowNs - _waiting[0].ArrivedNs > PatienceNs)
        {
            return 0;
        }

        int best = 0;
        double bestNs = double.MaxValue;
        for (int index = 0; index < Math.Min(_waiting.Count, QueueDepth) && _waiting[index].Operation != MediumOperation.Flush; index++)
        {
            double costNs = IsTransfer(_waiting[index]) ? PositionNs(_waiting[index].Offset, nowNs) : double.MaxValue;
            if (costNs < bestNs)
            {
                best = index;
                bestNs = costNs;
            }
        }

        return best;
    }

    private double CostNs(EmulatedRequest request, long nowNs) => request.Operation switch
    {
        MediumOperation.Flush => _rotationNs,
        MediumOperation.Unmap => UnmapNs,
        _ => PositionNs(request.Offset, nowNs) + (request.Length * _nsPerByte),
    };

    private double PositionNs(long offset, long nowNs)
    {
        if (offset == _head)
        {
            return 0;
        }

        double distance = Math.Abs(offset - _head) / (double)_length;
        double seekNs = _seekMinNs + (_seekSpanNs * Math.Sqrt(distance));
        double angle = (nowNs + seekNs) % _rotationNs;
        double wanted = offset % _trackBytes * _nsPerByte;
        double waitNs = (wanted - angle) % _rotationNs;
        return seekNs + (waitNs < 0 ? waitNs + _rotationNs : waitNs);
    }

    private static bool IsTransfer(EmulatedRequest request) =>
        request.Operation is MediumOperation.Read or MediumOperation.Write or MediumOperation.DurableWrite;
}
