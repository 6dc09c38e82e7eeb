using System.Collections.Concurrent;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Volumes;

/// <summary>Space of a mounted file system, in bytes.</summary>
/// <param name="Size">All of it.</param>
/// <param name="Free">Bytes that users may still write.</param>
/// <param name="BlockSize">An allocation unit.</param>
internal readonly record struct SpaceAmount(ulong Size, ulong Free, uint BlockSize);

/// <summary>
/// Asks mounted file systems for their space. The call may wait for a disk, so it runs on a thread of the pool with a time limit; while it has not ended,
/// the same mount is not asked again.
/// </summary>
internal sealed class FileSystemSpace
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(2);
    private readonly ConcurrentDictionary<string, Task<SpaceAmount?>> _pending = new();

    /// <summary>Returns the space of the file system at a mount point; null when it does not answer.</summary>
    public async Task<SpaceAmount?> OfAsync(string path)
    {
        Task<SpaceAmount?> asked = _pending.GetOrAdd(path, static name => Task.Run(() => Ask(name)));
        try
        {
            return await asked.WaitAsync(s_limit).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            return null;
        }
        finally
        {
            if (asked.IsCompleted)
            {
                _pending.TryRemove(new KeyValuePair<string, Task<SpaceAmount?>>(path, asked));
            }
        }
    }

    private static SpaceAmount? Ask(string path) =>
        FileSystemCalls.StatusOf(path, out FileSystemCalls.Status status) == 0
            ? new SpaceAmount(status.Blocks * status.FragmentSize, status.BlocksAvailable * status.FragmentSize, (uint)status.FragmentSize)
            : null;
}
