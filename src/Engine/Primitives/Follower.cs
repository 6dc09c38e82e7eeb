namespace TierSpaces.Engine.Primitives;

/// <summary>
/// A pooled slot that follows one operation and normally ends with it, but may answer its caller earlier. It is used again only when
/// the operation has ended and the caller has taken the answer, in whatever order.
/// </summary>
public abstract class Follower : LaneTaskSource<IoError>
{
    private readonly Action _resume;
    private LaneTask<IoError>.Awaiter _followed;   // valid while _isFollowing
    private bool _isFollowing;
    private bool _isTaken;                         // the caller has the answer, the operation goes on
    private ulong _request;                        // see RequestTrace

    /// <summary>An idle slot.</summary>
    protected Follower() => _resume = Resume;

    /// <summary>Whether the caller has been answered before the operation ended.</summary>
    protected bool HasAnswered { get; private set; }

    /// <summary>Whether neither the operation has ended nor the caller been answered.</summary>
    internal bool IsWaiting => _isFollowing && !HasAnswered;

    /// <summary>Number of the request that it was begun for, see <see cref="RequestTrace"/>; 0: of none that is traced.</summary>
    private protected ulong TracedRequest => _request;

    /// <summary>Follows an operation that has not ended.</summary>
    protected LaneTask<IoError> Follow(LaneTask<IoError> operation)
    {
        LaneTask<IoError> task = Task;
        HasAnswered = false;
        _isTaken = false;
        _isFollowing = true;
        _request = RequestTrace.IsOn ? RequestTrace.Current : 0;
        _followed = operation.GetAwaiter();
        _followed.UnsafeOnCompleted(_resume);
        return task;
    }

    /// <summary>Answers the caller now; the operation is followed to its end.</summary>
    protected void AnswerEarly(IoError answer)
    {
        HasAnswered = true;
        Complete(answer);
    }

    /// <summary>The operation has ended. Gives the answer for the caller, which counts only if it has none yet.</summary>
    protected abstract IoError OnEnded(IoError error);

    /// <summary>Whether the answer, which the operation has given, is kept from the caller for now: the slot completes by itself.</summary>
    protected virtual bool Defers(IoError answer) => false;

    /// <summary>The slot may be used again.</summary>
    protected abstract void Free();

    /// <inheritdoc/>
    protected sealed override void Recycle()
    {
        if (_isFollowing)
        {
            _isTaken = true;
        }
        else
        {
            Free();
        }
    }

    private void Resume()
    {
        if (_request == 0)
        {
            End();
            return;
        }

        ulong before = RequestTrace.Enter(_request);
        End();
        RequestTrace.Enter(before);
    }

    private void End()
    {
        IoError error = _followed.GetResult();
        _followed = default;
        IoError answer = OnEnded(error);
        _isFollowing = false;
        if (!HasAnswered)
        {
            if (!Defers(answer))
            {
                Complete(answer);
            }
        }
        else if (_isTaken)
        {
            Free();
        }
    }
}
