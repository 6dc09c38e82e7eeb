using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes.Sockets;

// One connection. Both directions try the system call first and wait for readiness only when it says EAGAIN, so a busy
// connection costs one call per batch.
//
// Invariants
//  1. At most one receive and one send are pending; each has one slot that is reused, so the hot path allocates nothing.
//  2. A connection gets InlineReceivesMax receives and sends of SentPerTurn bytes per turn of the lane, then waits for the next
//     turn: one busy client cannot keep the lane from the others, nor its own long reply from its next requests, for which
//     the disks would be idle.
//  3. Close shuts down, ends the polls, and closes the descriptor only when the backend has released it.

/// <summary>A connected stream socket on a lane.</summary>
internal sealed class LaneSocket : PollTarget, ILaneSocket
{
    private const int InlineReceivesMax = 4;
    private const int SentPerTurn = 512 << 10;   // a reply of 1 MiB and its header
    private const int VectorsMax = 256;
    private const int TurnOver = 1;      // no errno: the turn's bytes are sent

    private readonly Lane _lane;
    private readonly Slot<int> _receive = new();
    private readonly Slot<IoError> _send = new();
    private readonly unsafe IoVector* _vectors = (IoVector*)NativeMemory.Alloc(VectorsMax, (nuint)sizeof(IoVector));
    private readonly Action _receiveNextTurn;
    private readonly Action _sendNextTurn;
    private IoBuffer _target;                   // of the pending receive
    private ReadOnlyMemory<IoBuffer> _pieces;   // of the pending send
    private int _piece;                         // first piece not sent whole
    private int _sentOfPiece;
    private long _turn;
    private int _receivesThisTurn;
    private int _sentThisTurn;
    private bool _closed;

    internal LaneSocket(Lane lane, int descriptor, LanePeer peer)
        : base(descriptor)
    {
        _lane = lane;
        Peer = peer;
        _receiveNextTurn = OnReadable;
        _sendNextTurn = OnWritable;
        lane.StartPolling(this);
    }

    public LanePeer Peer { get; }

    public long BytesSent { get; private set; }

    public unsafe bool IsPeerGone
    {
        get
        {
            PolledDescriptor polled = new() { Descriptor = Descriptor, Events = (short)Libc.PollPeerHangUp };
            return !_closed && Libc.Poll(&polled, 1, 0) > 0;   // it answers only to what was asked for, a hang-up or an error
        }
    }

    public LaneTask<int> Receive(IoBuffer target)
    {
        ThrowIfPending(_receive.IsPending, nameof(Receive));
        if (_closed)
        {
            return new LaneTask<int>(-(int)IoError.ShutDown);
        }

        if (MayReceiveInline())
        {
            int result = ReceiveNow(target);
            if (result != -Errno.EAGAIN)
            {
                return new LaneTask<int>(result);
            }

            _target = target;
            return _receive.Begin();
        }

        _target = target;
        LaneTask<int> task = _receive.Begin();
        _lane.Post(_receiveNextTurn);
        return task;
    }

    public LaneTask<IoError> Send(ReadOnlyMemory<IoBuffer> pieces)
    {
        ThrowIfPending(_send.IsPending, nameof(Send));
        if (_closed)
        {
            return new LaneTask<IoError>(IoError.ShutDown);
        }

        _pieces = pieces;
        _piece = 0;
        _sentOfPiece = 0;
        Advance(0);   // past empty pieces
        int result = SendNow();
        if (result is not (-Errno.EAGAIN or TurnOver))
        {
            _pieces = default;
            return new LaneTask<IoError>(IoErrors.FromResult(result));
        }

        LaneTask<IoError> task = _send.Begin();
        SendOn(result);
        return task;
    }

    public void Close()
    {
        if (_closed)
        {
            return;
        }

        _closed = true;
        _ = Libc.Shutdown(Descriptor, Libc.ShutdownBoth);
        _lane.StopPolling(this);
        _lane.Post(EndPending);
    }

    internal override void OnReadable()
    {
        if (!_receive.IsWaiting || _closed)
        {
            return;
        }

        int result = ReceiveNow(_target);
        if (result != -Errno.EAGAIN)
        {
            _receive.End(result);
        }
    }

    internal override void OnWritable()
    {
        if (!_send.IsWaiting || _closed)
        {
            return;
        }

        int result = SendNow();
        if (result is -Errno.EAGAIN or TurnOver)
        {
            SendOn(result);
            return;
        }

        _pieces = default;
        _send.End(IoErrors.FromResult(result));
    }

    /// <summary>Without being told of readiness the connection could wait for ever: it ends.</summary>
    internal override void OnPollingFailed(int errno) => Close();

    internal override unsafe void OnPollingStopped()
    {
        Libc.Close(Descriptor);
        NativeMemory.Free(_vectors);
    }

    private void StartTurn()
    {
        if (_turn != _lane.Turn)
        {
            _turn = _lane.Turn;
            _receivesThisTurn = _sentThisTurn = 0;
        }
    }

    private bool MayReceiveInline()
    {
        StartTurn();
        return _receivesThisTurn++ < InlineReceivesMax;
    }

    /// <summary>Pending calls end in a turn of their own, so that the caller of Close is not re-entered.</summary>
    private void EndPending()
    {
        if (_receive.IsWaiting)
        {
            _receive.End(-(int)IoError.ShutDown);
        }

        if (_send.IsWaiting)
        {
            _pieces = default;
            _send.End(IoError.ShutDown);
        }
    }

    private unsafe int ReceiveNow(IoBuffer target)
    {
        int result;
        do
        {
            result = Libc.CountOrError(
                Libc.Receive(Descriptor, target.Pointer, (nuint)target.Length, Libc.MessageDontWait));
        }
        while (result == -Errno.EINTR);
        return result is >= 0 or -Errno.EAGAIN ? result : -(int)IoErrors.FromErrno(-result);
    }

    /// <summary>The rest follows in the next turn, or when the socket has room again.</summary>
    private void SendOn(int result)
    {
        if (result == TurnOver)
        {
            _lane.Post(_sendNextTurn);
        }
        else
        {
            _lane.PollWritable(this);
        }
    }

    /// <summary>Sends what the socket takes: 0 when all is sent, TurnOver when the rest has to wait for the next turn, else a negative errno.</summary>
    private unsafe int SendNow()
    {
        StartTurn();
        while (_piece < _pieces.Length)
        {
            int count = FillVectors(SentPerTurn - _sentThisTurn);
            if (count == 0)
            {
                return TurnOver;
            }

            MessageHeader message = new() { Vectors = _vectors, VectorCount = (nuint)count };
            int result = Libc.CountOrError(
                Libc.SendMessage(Descriptor, &message, Libc.MessageNoSignal | Libc.MessageDontWait));
            if (result >= 0)
            {
                Advance(result);
                _sentThisTurn += result;
                BytesSent += result;
            }
            else if (result != -Errno.EINTR)
            {
                return result;
            }
        }

        return 0;
    }

    private unsafe int FillVectors(int room)
    {
        ReadOnlySpan<IoBuffer> pieces = _pieces.Span;
        int count = 0;
        int skip = _sentOfPiece;
        for (int index = _piece; index < pieces.Length && count < VectorsMax && room > 0; index++)
        {
            IoBuffer piece = pieces[index];
            int length = Math.Min(piece.Length - skip, room);
            if (length > 0)
            {
                _vectors[count++] = new IoVector { Base = piece.Pointer + skip, Length = (nuint)length };
                room -= length;
            }

            skip = 0;
        }

        return count;
    }

    private void Advance(int sent)
    {
        ReadOnlySpan<IoBuffer> pieces = _pieces.Span;
        sent += _sentOfPiece;
        while (_piece < pieces.Length && sent >= pieces[_piece].Length)
        {
            sent -= pieces[_piece].Length;
            _piece++;
        }

        _sentOfPiece = sent;
    }

    private static void ThrowIfPending(bool pending, string call)
    {
        if (pending)
        {
            throw new InvalidOperationException($"A {call} is already pending on this socket.");
        }
    }

    /// <summary>The reusable slot of one direction.</summary>
    private sealed class Slot<T> : LaneTaskSource<T>
    {
        /// <summary>From the call until its result has been read.</summary>
        internal bool IsPending { get; private set; }

        /// <summary>From the call until it completes.</summary>
        internal bool IsWaiting { get; private set; }

        internal LaneTask<T> Begin()
        {
            IsPending = true;
            IsWaiting = true;
            return Task;
        }

        internal void End(T result)
        {
            IsWaiting = false;
            Complete(result);
        }

        protected override void Recycle() => IsPending = false;
    }
}
