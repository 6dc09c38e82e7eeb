using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Attaching;

/// <summary>Attaches the virtual disks that are connected: those of the host before at the start, and those of pools that open later.</summary>
internal sealed class StartupAttachment(HostServices services, Task started)
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5);

    private TaskCompletionSource? _first;   // null: this host serves no one, and attaches nothing at its start
    private bool _holdsChanges;

    /// <summary>Ends when the devices of the host before have been taken over.</summary>
    public Task First => _first?.Task ?? Task.CompletedTask;

    /// <summary>Waits a while for the devices of the host before, where the pools that they are on are open: verbs that show devices do.</summary>
    public Task WaitAsync() =>
        started.IsCompleted && !First.IsCompleted ? Task.WhenAny(First, Task.Delay(s_patience)) : Task.CompletedTask;

    /// <summary>
    /// Before the first verb: devices come back after the host is ready. Verbs that change state wait for <see cref="RunAsync"/>, and so do, for a
    /// while, verbs that list disks; others that read do not. While pools are still being opened, what changes state waits for those in the engine, which says
    /// what they wait for.
    /// </summary>
    public async Task BeginAsync()
    {
        _first = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        if (started.IsCompleted)
        {
            await services.Changes.WaitAsync().ConfigureAwait(false);
            _holdsChanges = true;
        }
    }

    /// <summary>Takes over or makes the devices of connected virtual disks, after the start.</summary>
    public async Task RunAsync()
    {
        if (!_holdsChanges)
        {
            await started.ConfigureAwait(false);
            await services.Changes.WaitAsync().ConfigureAwait(false);
        }

        try
        {
            await AttachConnectedAsync().ConfigureAwait(false);
            services.Attachments.ClearRemains();
        }
        finally
        {
            _first?.TrySetResult();
            services.Changes.Release();
        }
    }

    /// <summary>
    /// Attaches each virtual disk that is served and not attached yet: after a start, and when a pool has opened late. A disk that
    /// cannot be attached is logged; it keeps no other disk, and not the host, from starting. Volumes are mounted beside the caller.
    /// </summary>
    public async Task AttachConnectedAsync()
    {
        bool hasNew = false;
        foreach (VirtualDiskStatus disk in await services.Subsystem.VirtualDisks.ListAsync().ConfigureAwait(false))
        {
            string uniqueId = Identifiers.OfVirtualDisk(disk.Description.Id.Value);
            if (disk.SocketPath.Length > 0 && services.Attachments.OutcomeOf(uniqueId) is null)
            {
                await services.Listeners.RestoreAsync(disk).ConfigureAwait(false);
                await TryAttachAsync(disk, uniqueId).ConfigureAwait(false);
                hasNew = true;
            }
        }

        if (hasNew || services.Volumes.Store.Read().Creations.Length > 0)
        {
            services.Volumes.RestoreLater(services);
        }
    }

    /// <summary>Looks at every registered physical disk again, opens the storage pools that can be opened now, and attaches what is on them.</summary>
    public async Task LookAgainAsync()
    {
        await services.Subsystem.Pools.UpdateAsync().ConfigureAwait(false);
        await AttachConnectedAsync().ConfigureAwait(false);
    }

    /// <summary>A pool was opened, perhaps without a verb, because its disks are back: what is on it is attached beside the caller.</summary>
    internal void AttachLater() => _ = Task.Run(async () =>
    {
        try
        {
            await First.ConfigureAwait(false);
            await services.ChangeAsync(async () =>
            {
                await AttachConnectedAsync().ConfigureAwait(false);
                return true;
            }).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            HostLog.Write($"virtual disks of a pool that was opened are not attached: {e}");
        }
    });

    private async Task TryAttachAsync(VirtualDiskStatus disk, string uniqueId)
    {
        try
        {
            if (services.Attachments.BrokenRecordOf(uniqueId) is { } broken)
            {
                await services.Connections.AttachAgainAsync(disk, broken, "what served it has ended").ConfigureAwait(false);
                return;
            }

            services.Connections.Attach(disk);
        }
        catch (Exception e)
        {
            HostLog.Write($"virtual disk '{disk.Description.FriendlyName}' is served at {disk.SocketPath} and has no block device: {e}");
        }
    }
}
