using TierSpaces.Contracts;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;
using TierSpaces.Host.Volumes.FileSystems;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Get-SupportedClusterSizes: returns the sizes of allocation units that a file system can have on volumes.</summary>
internal sealed class GetSupportedClusterSizesHandler(HostServices services) : VerbHandler<GetSupportedClusterSizesRequest, SupportedClusterSizeInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(GetSupportedClusterSizesRequest request, ReplyBuilder<SupportedClusterSizeInfo> reply,
        CancellationToken cancellation)
    {
        FileSystemKind kind = services.Volumes.FileSystems.Choose(request.FileSystem).Kind;
        VolumeSelection selection = await VolumeSelection.ReadAsync(services, reply.Fail).ConfigureAwait(false);
        List<VolumeTarget> targets = await selection.VolumesAsync(
            request.DriveLetter, request.ObjectId, request.Path, request.FileSystemLabel, request.InputObject).ConfigureAwait(false);
        foreach (VolumeTarget target in targets)
        {
            reply.Add(kind.ClusterSizesOn(target.Disk.SectorSize).Select(static size => new SupportedClusterSizeInfo { ClusterSize = size }));
        }
    }
}
