using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Set-Disk: takes disks offline or online, makes them read-only, and changes their partition table.</summary>
internal sealed class SetDiskHandler(HostServices services) : VerbHandler<SetDiskRequest, DiskInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(SetDiskRequest request, ReplyBuilder<DiskInfo> reply, CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        List<VolumeDisk> disks = selection.Disks(
            request.Number is { } number ? [number] : null, request.UniqueId is { } id ? [id] : null, null, request.Path is { } path ? [path] : null,
                request.InputObject);
        string? guid = request.Guid is { } text ? ParseGuid(text) : null;
        if (request is { IsOffline: null, IsReadOnly: null, PartitionStyle: null, Guid: null, Signature: null })
        {
            throw new StorageException(
                StorageErrors.NothingToChange, "No setting was given. Valid: -IsOffline, -IsReadOnly, -PartitionStyle, -Guid, -Signature.",
                    "Give one of them.");
        }

        foreach (VolumeDisk disk in disks)
        {
            await reply.TryDoAsync(
                $"Change disk {disk.Number} ('{disk.FriendlyName}')",
                () => services.Volumes.ChangeAsync(disk, Verb.Name, async now =>
                {
                    await SetAsync(now, request, guid).ConfigureAwait(false);
                    return now;
                }),
                async () => Check(await selection.Catalogue.ReadAsync(disk).ConfigureAwait(false), request)).ConfigureAwait(false);
        }
    }

    private async Task SetAsync(VolumeDisk disk, SetDiskRequest request, string? guid)
    {
        Check(disk, request);
        if (request.IsOffline is { } isOffline)
        {
            await services.Volumes.Settings.SetOfflineAsync(disk, isOffline).ConfigureAwait(false);
        }

        if (request.IsReadOnly is { } isReadOnly)
        {
            await services.Volumes.Settings.SetReadOnlyAsync(disk, isReadOnly).ConfigureAwait(false);
        }

        if (request.PartitionStyle is { } style)
        {
            await services.Volumes.Settings.ConvertAsync(disk, style).ConfigureAwait(false);
        }

        if ((guid ?? (request.Signature is { } signature ? $"0x{signature:x8}" : null)) is { } identifier)
        {
            await services.Volumes.Partitions.SetAsync(disk, "--disk-id", disk.Device, identifier).ConfigureAwait(false);
        }
    }

    private void Check(VolumeDisk disk, SetDiskRequest request)
    {
        services.Volumes.Checks.RequireOurs(disk);
        if (request.PartitionStyle is { } style)
        {
            services.Volumes.Settings.CheckConvert(disk, style);
        }

        RequireStyle(disk, request.Guid is null, PartitionStyle.GPT, "-Guid: only a GPT has an identifier");
        RequireStyle(disk, request.Signature is null, PartitionStyle.MBR, "-Signature: only an MBR has a signature");
    }

    private void RequireStyle(VolumeDisk disk, bool isUnset, PartitionStyle style, string why)
    {
        if (isUnset)
        {
            return;
        }

        services.Volumes.Checks.RequireWritable(disk);
        if (disk.Contents.Style != style)
        {
            throw new StorageException(
                StorageErrors.PartitionParameter, $"{why}, and disk {disk.Number} is {DisplayName.Of(disk.Contents.Style)}.", "Leave it out.",
                    disk.FriendlyName);
        }
    }

    private static string ParseGuid(string text) => Guid.TryParse(text, out Guid guid) ? guid.ToString("D") : throw new StorageException(
        StorageErrors.InvalidParameter, $"-Guid '{text}': is no GUID. Valid: 32 hexadecimal digits with hyphens, in braces or not.", "Give a GUID.", "Guid");
}
