using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Set-VirtualDisk: changes name, usage, access or attaching of virtual disks.</summary>
internal sealed class SetVirtualDiskHandler(HostServices services) : VerbHandler<SetVirtualDiskRequest, VirtualDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        SetVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        bool? readOnly = IsReadOnly(request.Access);
        long? cacheSize = request.WriteCacheSize is { } bytes ? Amount.Bytes(bytes, nameof(request.WriteCacheSize), StorageErrors.WriteCacheSizeRange) : null;
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        foreach (VirtualDiskStatus disk in all.VirtualDisks.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail))
        {
            if (DestageParameters.AreGiven(request) && (cacheSize ?? disk.Description.WriteCacheSize) == 0)
            {
                reply.Warn($"Virtual disk '{disk.Description.FriendlyName}' has no write cache: how it is destaged is kept for when it has one.");
            }

            CachePlacement? cache = null;
            await reply.TryDoAsync(
                $"Set {request.Changes()} of virtual disk '{disk.Description.FriendlyName}'", () => SetAsync(), async () => cache = await CheckAsync().ConfigureAwait(false))
                .ConfigureAwait(false);
            reply.Tell(cache is null ? [] : SlabMoveText.OfCache(cache, all));
            cache?.Remarks.ToList().ForEach(reply.Warn);

            async Task SetAsync()
            {
                await CheckAsync().ConfigureAwait(false);   // both changes or none
                VirtualDiskStatus set = await services.Subsystem.VirtualDisks.SetAsync(
                    disk.Description.Id.Value, description => Change(description, request, readOnly)).ConfigureAwait(false);
                FollowName(disk, set, reply.Warn);
                if (cacheSize is { } size)
                {
                    VirtualDiskStatus resized = await services.Subsystem.WriteCaches.ResizeAsync(disk.Description.Id.Value, size).ConfigureAwait(false);
                    resized.Remarks.ToList().ForEach(reply.Warn);
                }
            }

            async Task<CachePlacement?> CheckAsync()
            {
                if (IsRenamed(disk, request.NewFriendlyName ?? disk.Description.FriendlyName))
                {
                    services.Attachments.RequireRenamable(Identifiers.OfVirtualDisk(disk.Description.Id.Value));
                }

                await services.Subsystem.VirtualDisks.CheckSetAsync(disk.Description.Id.Value, description => Change(description, request, readOnly))
                    .ConfigureAwait(false);
                return cacheSize is { } size
                    ? await services.Subsystem.WriteCaches.PlanResizeAsync(disk.Description.Id.Value, size).ConfigureAwait(false) : null;
            }
        }
    }

    private static bool IsRenamed(VirtualDiskStatus disk, string name) => disk.Description.FriendlyName != name;

    /// <summary>The device link of a connected disk follows its name; clients that were given its URI need the new one when they connect again.</summary>
    private void FollowName(VirtualDiskStatus before, VirtualDiskStatus now, Action<string> warn)
    {
        string name = now.Description.FriendlyName;
        if (now.SocketPath.Length == 0 || !IsRenamed(before, name))
        {
            return;
        }

        services.Attachments.Rename(Identifiers.OfVirtualDisk(now.Description.Id.Value), name);
        warn($"NBD clients of virtual disk '{name}' that connect again find it at {VirtualDiskMapping.NbdUri(name, now.SocketPath)}");
    }

    private static VirtualDiskDescription Change(VirtualDiskDescription disk, SetVirtualDiskRequest request, bool? readOnly) => disk with
    {
        FriendlyName = request.NewFriendlyName ?? disk.FriendlyName,
        Usage = (ushort?)request.Usage ?? disk.Usage,
        OtherUsageDescription = request.OtherUsageDescription ?? disk.OtherUsageDescription,
        IsManualAttach = request.IsManualAttach ?? disk.IsManualAttach,
        IsReadOnly = readOnly ?? disk.IsReadOnly,
        Destage = DestageParameters.Apply(disk.Destage, request),
        TierSettings = TierSettingParameters.Apply(disk, request),
    };

    private static bool? IsReadOnly(Access? access) => access switch
    {
        null => null,
        Access.Readable => true,
        Access.ReadWrite => false,
        _ => throw new StorageException(
            StorageErrors.InvalidParameter, $"-Access {access}: not possible. Valid: Readable and ReadWrite.", "Give Readable or ReadWrite.", "Access"),
    };
}
