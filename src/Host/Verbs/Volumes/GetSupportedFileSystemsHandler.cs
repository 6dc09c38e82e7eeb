using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Get-SupportedFileSystems: returns the file systems that volumes can be formatted with.</summary>
internal sealed class GetSupportedFileSystemsHandler(HostServices services) : VerbHandler<GetSupportedFileSystemsRequest, SupportedFileSystemInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetSupportedFileSystemsRequest request, ReplyBuilder<SupportedFileSystemInfo> reply,
        CancellationToken cancellation)
    {
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        List<VolumeTarget> targets = await selection.VolumesAsync(
            request.DriveLetter, request.ObjectId, request.Path, request.FileSystemLabel, request.InputObject).ConfigureAwait(false);
        foreach (VolumeTarget target in targets)
        {
            reply.Add(services.Volumes.FileSystems.Supported().Where(name => services.Volumes.FileSystems.Choose(name).Kind.BytesMin <= target.Size)
                .Select(name => new SupportedFileSystemInfo { FileSystem = name, MadeAs = services.Volumes.FileSystems.Choose(name).Kind.Name }));
        }
    }
}
