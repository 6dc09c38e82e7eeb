using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Engine;
using TierSpaces.Host.Supervision;

namespace TierSpaces.Host.Serving;

/// <summary>What the handlers of one host share.</summary>
internal sealed class HostServices(HostPaths paths, ServeOptions options)
{
    private readonly SemaphoreSlim attaching = new(1, 1);
    private readonly TaskCompletionSource stopRequested = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Where state and sockets are.</summary>
    public HostPaths Paths => paths;

    /// <summary>The engine. Set before the host answers.</summary>
    public EngineHost Engine { get; private set; } = null!;

    /// <summary>How virtual disks are attached to this machine.</summary>
    public AttachManager Attachments { get; private set; } = null!;

    /// <summary>When the host started, in UTC.</summary>
    public DateTime StartTime { get; } = DateTime.UtcNow;

    /// <summary>Completes when somebody asked the host to stop.</summary>
    public Task StopRequested => stopRequested.Task;

    /// <summary>Asks the host to stop in good order. Returns at once; a second request changes nothing.</summary>
    public void RequestStop() => stopRequested.TrySetResult();

    /// <summary>Process that starts the host again, or null.</summary>
    public int? SupervisorProcessId => options.Supervisor switch
    {
        SupervisorKind.Systemd => 1,
        SupervisorKind.Own when int.TryParse(FileLock.Read(paths.SupervisorLock), out var process) => process,
        _ => null,
    };

    /// <summary>Takes the engine into use: once, before the host answers.</summary>
    public void Use(EngineHost engine)
    {
        Engine = engine;
        Attachments = new AttachManager(paths, new AttachStore(engine.State), [new KernelNbdAttacher(), new NbdFuseAttacher()]);
    }

    /// <summary>Attaches an exported virtual disk. Gives the reason where there is no block device, else null.</summary>
    public async Task<string?> AttachAsync(VirtualDiskStatus disk)
    {
        await attaching.WaitAsync().ConfigureAwait(false);
        try
        {
            var description = disk.Description;
            var target = new AttachTarget(
                ObjectMapping.Text(description.Id.Value), description.FriendlyName, disk.SocketPath, description.FriendlyName, description.LogicalSectorSize);
            return await Task.Run(() => Attachments.Attach(target).Reason).ConfigureAwait(false);
        }
        finally
        {
            attaching.Release();
        }
    }

    /// <summary>Detaches a virtual disk, if it is attached.</summary>
    /// <exception cref="StorageException">Its device is in use; nothing was changed.</exception>
    public async Task DetachAsync(string uniqueId)
    {
        await attaching.WaitAsync().ConfigureAwait(false);
        try
        {
            await Task.Run(() => Attachments.Detach(uniqueId)).ConfigureAwait(false);
        }
        finally
        {
            attaching.Release();
        }
    }

    /// <summary>Attaches every exported virtual disk that is not attached yet: after a start, or when a pool has come back.</summary>
    public async Task AttachConnectedAsync()
    {
        foreach (var disk in await Engine.Subsystem.VirtualDisksAsync().ConfigureAwait(false))
        {
            if (disk.SocketPath.Length > 0 && Attachments.OutcomeOf(ObjectMapping.Text(disk.Description.Id.Value)) is null)
            {
                await AttachAsync(disk).ConfigureAwait(false);
            }
        }
    }
}
