namespace TierSpaces.Engine.Lanes;

/// <summary>A descriptor whose readiness a lane watches. All calls are made on the lane.</summary>
internal abstract class PollTarget(int descriptor)
{
    internal int Descriptor { get; } = descriptor;

    /// <summary>The backend's record of this target while it is watched.</summary>
    internal object? Watch { get; private set; }

    /// <summary>The backend watches it from now on.</summary>
    /// <param name="record">The backend's record of it.</param>
    internal void BeginWatch(object record) => Watch = record;

    /// <summary>The backend watches it no more.</summary>
    internal void EndWatch() => Watch = null;

    /// <summary>Input, an end of stream or an error may be there. May be called without cause; is called for every new arrival.</summary>
    internal abstract void OnReadable();

    /// <summary>Answers one <see cref="Lane.PollWritable"/>; may be called without cause.</summary>
    internal abstract void OnWritable();

    /// <summary>
    /// The kernel refuses to watch the descriptor (this error number), and nothing is watched any more: <see cref="Lane.StartPolling"/> tries
    /// again, which may fail again. Never called within a call of the lane.
    /// </summary>
    internal abstract void OnPollingFailed(int errno);

    /// <summary>The lane no longer refers to the descriptor: it may be closed.</summary>
    internal abstract void OnPollingStopped();
}
