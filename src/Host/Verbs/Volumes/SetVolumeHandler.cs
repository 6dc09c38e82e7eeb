using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Set-Volume: changes the labels of volumes.</summary>
internal sealed class SetVolumeHandler(HostServices services) : VerbHandler<SetVolumeRequest, VolumeInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(SetVolumeRequest request, ReplyBuilder<VolumeInfo> reply, CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        if (request.NewFileSystemLabel is not { } label)
        {
            throw new StorageException(StorageErrors.NothingToChange, "No setting was given. Valid: -NewFileSystemLabel.", "Give a label; '' removes it.");
        }

        string[]? ids = request.UniqueId is { } id ? [id] : request.InputObject;
        List<VolumeTarget> targets = await selection.VolumesAsync(
            ListOf(request.DriveLetter), null, ListOf(request.Path), ListOf(request.FileSystemLabel), ids).ConfigureAwait(false);
        foreach (VolumeTarget target in targets)
        {
            await reply.TryDoAsync(
                $"Label {target.Name} ('{target.Disk.FriendlyName}') '{label}'",
                () => services.Volumes.ChangeAsync(target, Verb.Name, async now =>
                {
                    await services.Volumes.Repairs.SetLabelAsync(now, label, reply.Warn).ConfigureAwait(false);
                    return now;
                }),
                () =>
                {
                    services.Volumes.Repairs.CheckLabel(target, label);
                    return Task.CompletedTask;
                }).ConfigureAwait(false);
        }
    }

    private static string[]? ListOf(string? text) => text is null ? null : [text];
}
