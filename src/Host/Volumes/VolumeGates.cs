using System.Collections.Concurrent;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes;

/// <summary>
/// One change of a disk at a time: verbs on other disks, and verbs that read, go on. A verb that finds a disk busy waits for a while and is then refused,
/// with the name of what is at work.
/// </summary>
internal sealed class VolumeGates
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(10);
    private readonly ConcurrentDictionary<string, Gate> _gates = new();

    /// <summary>Waits for a disk and takes it.</summary>
    /// <param name="virtualDisk">Unique identifier.</param>
    /// <param name="work">The work, for the error of others.</param>
    /// <exception cref="StorageException">It is busy.</exception>
    public async Task<IDisposable> EnterAsync(string virtualDisk, string work)
    {
        Gate gate = _gates.GetOrAdd(virtualDisk, static _ => new Gate());
        if (!await gate.Free.WaitAsync(s_patience).ConfigureAwait(false))
        {
            throw new StorageException(
                StorageErrors.DeviceBusy, $"{gate.Work} is at work on the virtual disk.", "Wait until it has ended, then retry.", virtualDisk);
        }

        gate.Work = work;
        return gate;
    }

    /// <summary>The lock of one disk; disposing it releases the lock.</summary>
    private sealed class Gate : IDisposable
    {
        public SemaphoreSlim Free { get; } = new(1, 1);

        public string Work { get; set; } = "";

        public void Dispose() => Free.Release();
    }
}
