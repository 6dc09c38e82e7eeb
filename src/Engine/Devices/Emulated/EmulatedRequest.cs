using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Emulated;

/// <summary>One request of an emulated disk: it ends when both its medium and the real disk below have ended.</summary>
internal sealed class EmulatedRequest(EmulatedDisk disk) : LaneTaskSource<IoError>
{
    private const int Halves = 2;

    private int _halvesLeft;
    private IoError _error;

    /// <summary>Port of its disk to the medium.</summary>
    internal MediumPort Port => disk.Port;

    internal MediumOperation Operation { get; private set; }

    internal long Offset { get; private set; }

    internal long Length { get; private set; }

    /// <summary>Time at which the request began to wait, in the medium's time.</summary>
    internal long ArrivedNs { get; private set; }

    internal void Begin(MediumOperation operation, long offset, long length)
    {
        Operation = operation;
        Offset = offset;
        Length = length;
        _error = IoError.None;
        _halvesLeft = Halves;
    }

    /// <summary>The request waits for the medium from now on.</summary>
    internal void Wait(long nowNs) => ArrivedNs = nowNs;

    /// <summary>One half has ended; the second of them completes the request.</summary>
    internal void HalfEnded(IoError error)
    {
        _error = error == IoError.None ? _error : error;
        if (--_halvesLeft == 0)
        {
            disk.RequestEnded();
            Complete(_error);
        }
    }

    protected override void Recycle() => disk.Return(this);
}
