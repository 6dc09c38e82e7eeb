using TierSpaces.Host.Native;

namespace TierSpaces.Host.Verbs.Subsystems;

/// <summary>
/// A thread for work that computes for minutes and must not delay clients: it has the lowest scheduling priority, so threads that
/// serve clients run first.
/// </summary>
internal static class BackgroundThread
{
    private const int LeastClaim = 19;

    /// <summary>Runs work on such a thread.</summary>
    public static Task<T> RunAsync<T>(string name, Func<T> work)
    {
        TaskCompletionSource<T> done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        Thread thread = new Thread(() =>
        {
            _ = ProcessCalls.SetPriority(ProcessCalls.PriorityOfThread, 0, LeastClaim);   // where it is refused, the thread runs as others do
            try
            {
                done.SetResult(work());
            }
            catch (Exception e)
            {
                done.SetException(e);
            }
        })
        { IsBackground = true, Name = name };
        thread.Start();
        return done.Task;
    }
}
