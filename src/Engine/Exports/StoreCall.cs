using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports;

// One call of a client inside a store. The slot is used again, and a suspended call continues from it, so a request costs no allocation.
//
// Invariants
//  1. The slot waits for at most one store call; the call ends once.
//  2. An exception before the store was given the request, and one that the store says has changed nothing, end that request with an I/O error. Any other
//     passes: the state of the store is not known.

/// <summary>A request of a client in the store of an export, from its start to its end.</summary>
internal abstract class StoreCall
{
    private readonly Action _resume;
    private LaneTask<IoError>.Awaiter _pending;   // valid between Await and Resume
    private long _startNs;                        // of the call in the store, while it is traced

    private protected StoreCall() => _resume = Resume;

    /// <summary>The request to the store.</summary>
    internal abstract NbdCommand Command { get; }

    /// <summary>First byte of the store that is meant.</summary>
    internal abstract long Offset { get; }

    /// <summary>Number of bytes.</summary>
    internal abstract long Length { get; }

    /// <summary>Whether it is traced.</summary>
    internal bool IsTraced => Traced != 0;

    /// <summary>Time at which the request was first looked at, if it waited since then while requests were traced; else 0.</summary>
    internal long ArrivedNs { get; private set; }

    /// <summary>Number of the request in a trace; 0: it is not traced.</summary>
    private ulong Traced { get; set; }

    /// <summary>It is traced from when it was first looked at; 0: that was just now.</summary>
    internal void NoteArrival(long arrivedNs) => ArrivedNs = arrivedNs;

    /// <summary>Nothing is left of the request before.</summary>
    private protected void BeginCall() => (ArrivedNs, Traced) = (0, 0);

    /// <summary>Gives the request to the store.</summary>
    private protected abstract LaneTask<IoError> Execute(IBlockStore store);

    /// <summary>The call has ended after its start.</summary>
    private protected abstract void End(IoError error, RequestException? failure);

    /// <summary>Gives the request to the store; false with what was thrown instead, which has changed nothing.</summary>
    internal bool TryExecute(ILane lane, NbdExport export, IBlockStore store, out LaneTask<IoError>.Awaiter call, out RequestException? failure)
    {
        try
        {
            failure = null;
            if (RequestTrace.IsOn && (export.Traces > 0 || RequestEvents.Log.IsEnabled()))
            {
                BeginTrace(lane.NowNs);
            }

            if (!IsTraced)
            {
                call = Execute(store).GetAwaiter();
                return true;
            }

            ulong before = RequestTrace.Enter(Traced);
            try
            {
                call = Execute(store).GetAwaiter();
            }
            finally
            {
                RequestTrace.Enter(before);
            }

            return true;
        }
        catch (Exception thrown) when (thrown is not InvariantException)
        {
            failure = thrown as RequestException ?? new RequestException(thrown);
            call = default;
            return false;
        }
    }

    /// <summary>Continues in <see cref="End"/> when the store call has ended.</summary>
    internal void Await(LaneTask<IoError>.Awaiter pending)
    {
        _pending = pending;
        pending.UnsafeOnCompleted(_resume);
    }

    /// <summary>The call in the store has ended.</summary>
    internal void EndTrace(ILane lane, NbdExport export)
    {
        if (IsTraced)
        {
            RequestTrace.Add(Traced, TraceLayer.Engine, ArrivedNs == 0 ? _startNs : ArrivedNs, lane.NowNs, (byte)Command, Offset, Length, export);
            Traced = 0;
        }
    }

    /// <summary>The result of a store call; a call that changed nothing before it failed gives an I/O error and what it threw.</summary>
    /// <exception cref="NbdStoreException">The store ended the call with another exception.</exception>
    internal static IoError ResultOf(LaneTask<IoError>.Awaiter call, out RequestException? failure)
    {
        try
        {
            failure = null;
            return call.GetResult();
        }
        catch (RequestException thrown)
        {
            failure = thrown;
            return IoError.Io;
        }
        catch (Exception thrown) when (RequestException.MayContain(thrown))
        {
            throw new NbdStoreException(thrown);
        }
    }

    /// <summary>The request is traced from now on, as its call in the store begins.</summary>
    private void BeginTrace(long nowNs)
    {
        Traced = RequestTrace.NewNumber();
        _startNs = nowNs;
        RequestTrace.Add(Traced, TraceLayer.Queue, ArrivedNs == 0 ? nowNs : ArrivedNs, nowNs);
    }

    private void Resume()
    {
        LaneTask<IoError>.Awaiter pending = _pending;
        _pending = default;
        IoError error = ResultOf(pending, out RequestException? failure);
        End(error, failure);
    }
}
