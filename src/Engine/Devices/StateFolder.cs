using System.Runtime.ExceptionServices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

// The state folder as the engine uses it. Its file system may be slow, full or hung; the lane never waits in a call to it.
//
//   files    one call after another, on a thread
//   memory   on another one: the folder for shared memory is usually a file system of its own
//
// A call that is not answered within the deadline fails like one that the file system refused. It may still take effect later. While it hangs, further
// calls of its kind fail at once.
//
// Invariants
//  1. Calls of one kind run one after another, so a later write of a file is never overtaken by an earlier one.
//  2. Memory that is mapped after its caller got a failure is given back as it was found.

/// <summary>Asynchronous access to the host's state folder, with a deadline. Used on one lane.</summary>
/// <param name="lane">Lane of the callers.</param>
/// <param name="state">The folder.</param>
/// <param name="deadlineNs">Time after which a call fails, in nanoseconds.</param>
public sealed class StateFolder(ILane lane, IHostState state, long deadlineNs = StateFolder.DefaultDeadlineNs)
{
    /// <summary>Time after which a call fails unless another one is given, in nanoseconds.</summary>
    public const long DefaultDeadlineNs = 5_000_000_000;

    private readonly Caller _files = new(lane, "state folder", deadlineNs);
    private readonly Caller _memory = new(lane, "folder for shared memory", deadlineNs);

    /// <summary>Identifier of the present run of the machine, see <see cref="IHostState.BootId"/>.</summary>
    public Guid BootId { get; } = state.BootId;

    /// <summary>Reads a small file whole; null: there is none.</summary>
    /// <exception cref="IOException">It cannot be read, or not in time.</exception>
    public LaneTask<byte[]?> ReadFile(string name) => _files.Call(() => state.ReadFile(name));

    /// <summary>Replaces a small file atomically and durably.</summary>
    /// <param name="name">Name of the file.</param>
    /// <param name="content">Its new content, which does not change any more.</param>
    /// <exception cref="IOException">It could not be made durable, or not in time: then it may be replaced later.</exception>
    public LaneTask<Nothing> WriteFile(string name, byte[] content) => _files.Call(() =>
    {
        state.WriteFile(name, content);
        return default(Nothing);
    });

    /// <summary>Removes a file if it is there.</summary>
    /// <exception cref="IOException">It could not be removed, or not in time: then it may be removed later.</exception>
    public LaneTask<Nothing> DeleteFile(string name) => _files.Call(() =>
    {
        state.DeleteFile(name);
        return default(Nothing);
    });

    /// <summary>Maps memory that outlives this process, see <see cref="IHostState.MapMemory"/>.</summary>
    /// <exception cref="IOException">The folder has no room, refuses, or does not answer in time.</exception>
    public LaneTask<IoBuffer> MapMemory(string name, int size) => _memory.Call(() => state.MapMemory(name, size), _ => state.ReturnMemory(name));

    /// <summary>Gives the memory of that name back with what it holds. The call ends at once; a later <see cref="MapMemory"/> comes after it.</summary>
    public void ReturnMemory(string name) => _memory.Send(() => state.ReturnMemory(name));

    /// <summary>Unmaps and deletes the memory of that name. A folder that refuses or does not answer keeps the file; that is no failure.</summary>
    public async LaneTask<Nothing> ReleaseMemory(string name)
    {
        try
        {
            return await _memory.Call(() =>
            {
                state.ReleaseMemory(name);
                return default(Nothing);
            });
        }
        catch (IOException)
        {
            return default;
        }
    }

    /// <summary>The calls of one kind.</summary>
    private sealed class Caller(ILane lane, string folder, long deadlineNs)
    {
        private readonly Queue<(Action Call, LaneCompletion<Nothing> Ended)> _calls = new();   // those that wait
        private bool _isRunning;
        private int _overdue;   // calls that have failed by their deadline and not ended

        internal void Send(Action call) => Enqueue(call).Forget();

        /// <summary>Makes a call and gives its result, or the failure.</summary>
        /// <param name="call">Runs on a thread.</param>
        /// <param name="takeBack">Runs on a thread after a call that ended too late.</param>
        internal async LaneTask<T> Call<T>(Func<T> call, Action<T>? takeBack = null)
        {
            if (_overdue > 0)
            {
                throw NoAnswer();
            }

            Pending<T> pending = new(call);
            LaneCompletion<Nothing> ended = LaneCompletion<Nothing>.Rent();
            LaneTask<Nothing> end = ended.Task;
            Run(pending, ended, takeBack).Forget();
            EndAfterDeadline(pending, ended).Forget();
            await end;
            pending.Failure?.Throw();
            return pending.IsLate ? throw NoAnswer() : pending.Result!;
        }

        private async LaneTask Run<T>(Pending<T> pending, LaneCompletion<Nothing> ended, Action<T>? takeBack)
        {
            await Enqueue(pending.Run);
            if (!pending.IsLate)
            {
                pending.HasEnded = true;
                ended.Complete(default);
                return;
            }

            _overdue--;
            if (takeBack is not null && !pending.HasFailed)
            {
                Send(() => takeBack(pending.Result!));
            }
        }

        private LaneTask<Nothing> Enqueue(Action call)
        {
            LaneCompletion<Nothing> ended = LaneCompletion<Nothing>.Rent();
            LaneTask<Nothing> end = ended.Task;
            _calls.Enqueue((call, ended));
            if (!_isRunning)
            {
                RunCalls().Forget();
            }

            return end;
        }

        private async LaneTask RunCalls()
        {
            _isRunning = true;
            while (_calls.TryDequeue(out (Action Call, LaneCompletion<Nothing> Ended) next))
            {
                await lane.OffloadBlocking(next.Call);
                next.Ended.Complete(default);
            }

            _isRunning = false;
        }

        private async LaneTask EndAfterDeadline<T>(Pending<T> pending, LaneCompletion<Nothing> ended)
        {
            await lane.Delay(deadlineNs);
            if (!pending.HasEnded)
            {
                pending.IsLate = true;
                _overdue++;
                ended.Complete(default);
            }
        }

        private IOException NoAnswer() => new($"The file system of the host's {folder} does not answer.");
    }

    /// <summary>A call and what became of it. The thread writes it before the lane reads it.</summary>
    private sealed class Pending<T>(Func<T> call)
    {
        private ExceptionDispatchInfo? _failure;

        internal T? Result { get; private set; }

        internal bool HasFailed => _failure is not null;

        /// <summary>Failure of a call that has ended in time.</summary>
        internal ExceptionDispatchInfo? Failure => HasEnded ? _failure : null;

        /// <summary>Ended in time. Of the lane.</summary>
        internal bool HasEnded { get; set; }

        /// <summary>Its caller got the failure of a call that is not answered. Of the lane.</summary>
        internal bool IsLate { get; set; }

        internal void Run()
        {
            try
            {
                Result = call();
            }
            catch (Exception failure)
            {
                _failure = ExceptionDispatchInfo.Capture(failure);
            }
        }
    }
}
