using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

/// <summary>Kind of a request to a member disk.</summary>
internal enum MemberOperation : byte
{
    Read,
    Write,
    Flush,
    Unmap,
    Zero,
    Punch,
    Close,
    Presence,
}

/// <summary>One request in flight on a member disk. Its disk may answer for it before the device does.</summary>
internal sealed class MeteredRequest(MeteredDisk disk) : LinkedFollower
{
    private IoBuffer _memory;   // memory that the device uses: the caller's own, or rented by the disk

    internal MemberOperation Operation { get; private set; }

    internal long Offset { get; private set; }

    internal long Length { get; private set; }

    internal long StartNs { get; private set; }

    internal int StartTick { get; private set; }

    /// <summary>The caller's memory, if the device uses other memory, which the disk has rented.</summary>
    internal IoBuffer CallersMemory { get; private set; }

    /// <summary>Number of the client's request, see <see cref="RequestTrace"/>.</summary>
    internal ulong Traced => TracedRequest;

    internal LaneTask<IoError> Begin(
        MemberOperation operation, long offset, long length, IoBuffer memory, IoBuffer callers, long startNs, int startTick, LaneTask<IoError> below)
    {
        (Operation, Offset, Length, _memory, CallersMemory, StartNs, StartTick) = (operation, offset, length, memory, callers, startNs, startTick);
        return Follow(below);
    }

    /// <summary>The caller goes on without the device, which keeps the memory.</summary>
    internal void GiveUp(IoError error)
    {
        if (_memory.Length > 0 && CallersMemory.Length == 0)
        {
            disk.Lane.Buffers.Keep(_memory);
        }

        AnswerEarly(error);
    }

    protected override IoError OnEnded(IoError error)
    {
        if (!HasAnswered)
        {
            disk.Ended(this, error);
        }
        else
        {
            disk.EndedLate(Operation);
        }

        if (CallersMemory.Length > 0)
        {
            disk.GiveBack(Operation, _memory, CallersMemory, HasAnswered ? IoError.TimedOut : error);
        }
        else if (HasAnswered && _memory.Length > 0)
        {
            disk.Lane.Buffers.LetGo(_memory);
        }

        _memory = default;
        CallersMemory = default;
        return error;
    }

    /// <summary>Whether a request waits for the lease of the pool.</summary>
    internal static bool IsGated(MemberOperation operation) => operation is not (MemberOperation.Close or MemberOperation.Presence);

    protected override bool Defers(IoError answer)
    {
        if (!IsGated(Operation) || disk.ShutGate() is not { } gate)
        {
            return false;
        }

        Pass(gate, answer).Forget();
        return true;
    }

    private async LaneTask Pass(LeaseGate gate, IoError answer) => Complete(await gate.Wait(disk.Lane) is not IoError.None and var shut ? shut : answer);

    protected override void Free() => disk.Return(this);
}
