namespace TierSpaces.Contracts;

/// <summary>
/// Waits for the end of a host that stops on request. Its reply comes while it still closes its pools; the client waits until the
/// process has ended. Then the next command meets no host that is stopping, and image files may be moved.
/// </summary>
internal static class HostEnd
{
    private static readonly TimeSpan s_pollInterval = TimeSpan.FromMilliseconds(10);

    /// <summary>Completes when a process has ended, whether or not its parent has taken note.</summary>
    public static async Task WaitAsync(int process, CancellationToken cancellation)
    {
        while (IsAlive(process))
        {
            await Task.Delay(s_pollInterval, cancellation).ConfigureAwait(false);
        }
    }

    private static bool IsAlive(int process)
    {
        try
        {
            // After the name, which may hold anything: state is field 3 of proc(5), number of threads is field 20. The first thread may be
            // a zombie already while others still close files.
            string[] fields = File.ReadAllText($"/proc/{process}/stat").Split(')')[^1].Split(' ', StringSplitOptions.RemoveEmptyEntries);
            return fields[0] is not ("Z" or "X") || fields[17] is not ("0" or "1");
        }
        catch (IOException)
        {
            return false;
        }
    }
}
