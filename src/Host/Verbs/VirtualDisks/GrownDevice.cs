using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>The block device of a virtual disk that was made larger, by itself or by one of its tiers.</summary>
internal static class GrownDevice
{
    /// <summary>Gives the device, if there is one, the size that the virtual disk has now; warns if it would have to be made again and is in use.</summary>
    /// <param name="services">The host.</param>
    /// <param name="all">Objects as they were before.</param>
    /// <param name="id">The virtual disk.</param>
    /// <param name="verb">The verb that made it larger.</param>
    /// <param name="warn">Gets what the user is to know.</param>
    public static async Task FollowAsync(HostServices services, Catalogue all, Guid id, string verb, Action<string> warn)
    {
        long before = all.VirtualDisks.All.First(disk => disk.Description.Id.Value == id).Description.SizeBytes;
        VirtualDiskStatus[] now = await services.Subsystem.VirtualDisks.ListAsync().ConfigureAwait(false);
        if (Array.Find(now, disk => disk.Description.Id.Value == id) is { } grown && grown.Description.SizeBytes != before
            && !await TryRenewAsync(services, grown, verb, warn).ConfigureAwait(false))
        {
            warn($"{services.ToInfo(all, grown).DevicePath} is in use and keeps its old size until virtual disk "
                + $"'{grown.Description.FriendlyName}' is disconnected and connected again; new NBD clients see the new size at once.");
        }
    }

    private static async Task<bool> TryRenewAsync(HostServices services, VirtualDiskStatus disk, string verb, Action<string> warn)
    {
        string id = Identifiers.OfVirtualDisk(disk.Description.Id.Value);
        if (services.Attachments.OutcomeOf(id) is not { DevicePath: not null, Method: var method })
        {
            return true;
        }

        using IDisposable gate = await services.Volumes.Gates.EnterAsync(id, verb).ConfigureAwait(false);
        if (services.Attachments.TryResize(id))
        {
            return true;
        }

        try
        {
            services.Attachments.Detach(id);
        }
        catch (StorageException)
        {
            return false;
        }

        services.Connections.Attach(disk, Enum.Parse<AttachMethod>(method));
        if (services.Attachments.OutcomeOf(id) is { DevicePath: null, Reason: { } reason })
        {
            warn($"{reason} Connect-VirtualDisk tries again.");
        }

        return true;
    }
}
