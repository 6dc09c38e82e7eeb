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
        private readonly Queue<LaneCompletion<Nothing>> _turns = new();   // of calls that wait
        private bool _isRunning;
        private int _overdue;   // calls that have failed by their deadline and not ended

        internal void Send(Action call) => InTurn(() => Do(call)).Forget();

        /// <summary>Makes a call and gives its result, or the failure.</summary>
        /// <param name="call">Runs on a thread.</param>
        /// <param name="takeBack">Runs on a thread after a call that ended too late.</param>
        internal async LaneTask<T> Call<T>(Func<T> call, Action<T>? takeBack = null)
        {
            if (_overdue > 0)
            {
                throw NoAnswer();
            }

            TimedCall<T> timed = new(lane, late => TakeBack(late, takeBack), wasLate => _overdue -= wasLate ? 1 : 0);
            if (!await timed.EndsWithin(deadlineNs, InTurn(call)))
            {
                _overdue++;
                throw NoAnswer();
            }

            return timed.Result;
        }

        private async LaneTask TakeBack<T>(T late, Action<T>? takeBack)
        {
            if (takeBack is not null)
            {
                await InTurn(() => Do(() => takeBack(late)));
            }
        }

        private async LaneTask<T> InTurn<T>(Func<T> call)
        {
            if (_isRunning)
            {
                LaneCompletion<Nothing> turn = LaneCompletion<Nothing>.Rent();
                _turns.Enqueue(turn);
                await turn.Task;
            }

            _isRunning = true;
            try
            {
                return await lane.CallBlocking(call);
            }
            finally
            {
                if (_turns.TryDequeue(out LaneCompletion<Nothing>? next))
                {
                    next.Complete(default);   // which runs from now on: no other call comes between
                }
                else
                {
                    _isRunning = false;
                }
            }
        }

        private IOException NoAnswer() => new($"The file system of the host's {folder} does not answer.");

        private static Nothing Do(Action call)
        {
            call();
            return default;
        }
    }
}
