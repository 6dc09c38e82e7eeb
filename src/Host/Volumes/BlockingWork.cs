using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes;

/// <summary>Calls of the file system that may wait for a disk: on a thread of the pool, with a time limit. A call that hangs keeps its thread and nothing
/// else.</summary>
internal static class BlockingWork
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(15);

    /// <summary>Runs a call.</summary>
    /// <param name="call">The call.</param>
    /// <param name="what">The object of the work, for the error.</param>
    /// <exception cref="StorageException">It failed, or did not end within 15 s.</exception>
    public static async Task<T> RunAsync<T>(Func<T> call, string what)
    {
        try
        {
            return await Task.Run(call).WaitAsync(s_limit).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            throw new StorageException(StorageErrors.Timeout, $"{what}: the file system does not answer.",
                "See whether it is mounted from a disk that hangs.", what);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StorageException(
                e is UnauthorizedAccessException ? StorageErrors.AccessDenied : StorageErrors.AccessPathInvalid, $"{what}: {e.Message}",
                "Choose another path, or let the user that the host runs as use it.", what);
        }
    }
}
