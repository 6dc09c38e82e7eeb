using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Set-VirtualDisk: changes name, usage, access or attaching of virtual disks.</summary>
internal sealed class SetVirtualDiskHandler(HostServices services) : VerbHandler<SetVirtualDiskRequest, VirtualDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        SetVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        var readOnly = IsReadOnly(request.Access);
        var disks = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).VirtualDisks;
        foreach (var disk in disks.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail))
        {
            if (DestageParameters.AreGiven(request) && disk.Description.WriteCacheSize == 0)
            {
                reply.Warn($"Virtual disk '{disk.Description.FriendlyName}' has no write cache: how it is destaged is kept for when it has one.");
            }

            await reply.TryDoAsync(
                $"Set {request.Changes()} of virtual disk '{disk.Description.FriendlyName}'",
                () => services.Subsystem.SetVirtualDiskAsync(disk.Description.Id.Value, description => Change(description, request, readOnly)),
                () => services.Subsystem.CheckSetVirtualDiskAsync(disk.Description.Id.Value, description => Change(description, request, readOnly))).ConfigureAwait(false);
        }
    }

    private static VirtualDiskDescription Change(VirtualDiskDescription disk, SetVirtualDiskRequest request, bool? readOnly) => disk with
    {
        FriendlyName = request.NewFriendlyName ?? disk.FriendlyName,
        Usage = (ushort?)request.Usage ?? disk.Usage,
        OtherUsageDescription = request.OtherUsageDescription ?? disk.OtherUsageDescription,
        IsManualAttach = request.IsManualAttach ?? disk.IsManualAttach,
        IsReadOnly = readOnly ?? disk.IsReadOnly,
        Destage = DestageParameters.Apply(disk.Destage, request),
    };

    private static bool? IsReadOnly(Access? access) => access switch
    {
        null => null,
        Access.Readable => true,
        Access.ReadWrite => false,
        _ => throw new StorageException(
            StorageErrors.InvalidParameter, $"-Access {access} is not possible.", "Give Readable or ReadWrite.", "Access"),
    };
}
