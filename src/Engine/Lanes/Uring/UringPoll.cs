namespace TierSpaces.Engine.Lanes.Uring;

// Readiness of one descriptor through a multishot POLL, plus a single POLL for room to send when asked.
//
// Invariants
//  1. A multishot poll tells of arrivals, not of levels: the target reads until EAGAIN before it waits.
//  2. A poll that ends with an error is not armed again: the error would come back at once, in every turn. Its target decides.
//  3. OnPollingStopped comes after the last completion of either poll: until then the kernel holds the file open.

/// <summary>A watched descriptor on a ring.</summary>
internal sealed class UringPoll : ICompletionTarget
{
    private const uint InputEvents = Native.Libc.PollIn | Native.Libc.PollPeerHangUp;

    private readonly UringLane _lane;
    private readonly PollTarget _target;
    private readonly WritablePoll _writable;
    private readonly RemovalTarget _removal;
    private ulong _readNumber;
    private ulong _writeNumber;
    private bool _readArmed;
    private bool _writeArmed;
    private bool _stopping;
    private bool _stopped;

    internal UringPoll(UringLane lane, PollTarget target)
    {
        _lane = lane;
        _target = target;
        _writable = new WritablePoll(this);
        _removal = new RemovalTarget(lane);
    }

    internal void Start()
    {
        _readArmed = true;
        _readNumber = _lane.AddOther(PollEntry(InputEvents, SubmissionEntry.PollMultishot), this);
    }

    internal void AskWritable()
    {
        if (!_writeArmed && !_stopping)
        {
            _writeArmed = true;
            _writeNumber = _lane.AddOther(PollEntry(Native.Libc.PollOut, 0), _writable);
        }
    }

    internal void Stop()
    {
        if (_stopping)
        {
            return;
        }

        _stopping = true;
        if (_readArmed)
        {
            Remove(_readNumber);
        }

        if (_writeArmed)
        {
            Remove(_writeNumber);
        }

        EndWhenQuiet();
    }

    public void OnCompletion(int result, bool more)
    {
        if (!more)
        {
            _readArmed = false;
            _lane.OtherEnded();
        }

        if (_stopping)
        {
            EndWhenQuiet();
            return;
        }

        if (result < 0)
        {
            _target.OnPollingFailed(-result);
            return;
        }

        if (!more)
        {
            Start();   // the kernel ended the series (its completion queue was full): begin another
        }

        _target.OnReadable();
    }

    private void OnWritableCompletion(int result)
    {
        _writeArmed = false;
        _lane.OtherEnded();
        if (_stopping)
        {
            EndWhenQuiet();
            return;
        }

        if (result < 0)
        {
            _target.OnPollingFailed(-result);
        }
        else
        {
            _target.OnWritable();
        }
    }

    private void EndWhenQuiet()
    {
        if (!_readArmed && !_writeArmed && !_stopped)
        {
            _stopped = true;
            _target.OnPollingStopped();
        }
    }

    // Cancelled, not removed: POLL_REMOVE gives up (EALREADY) on a poll whose last event has not been delivered yet.
    private void Remove(ulong number) =>
        _lane.AddOther(new SubmissionEntry { Opcode = RingOpcode.Cancel, Descriptor = -1, Address = number }, _removal);

    private SubmissionEntry PollEntry(uint events, uint mode) => new()
    {
        Opcode = RingOpcode.PollAdd,
        Descriptor = _target.Descriptor,
        OperationFlags = events,
        Length = mode,
    };

    private sealed class WritablePoll(UringPoll owner) : ICompletionTarget
    {
        public void OnCompletion(int result, bool more) => owner.OnWritableCompletion(result);
    }

    private sealed class RemovalTarget(UringLane lane) : ICompletionTarget
    {
        public void OnCompletion(int result, bool more) => lane.OtherEnded();
    }
}
