using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>Properties of a volume object beside the content of its disk.</summary>
internal sealed record VolumeFacts
{
    /// <summary>Drive letter; null for none.</summary>
    public string? Letter { get; init; }

    /// <summary>Paths that it is mounted at now.</summary>
    public string[] MountPoints { get; init; } = [];

    /// <summary>Space while it is mounted; null while it is not, and when it does not answer.</summary>
    public SpaceAmount? Space { get; init; }

    /// <summary>Bytes of an allocation unit while it is mounted; null while it is not.</summary>
    public uint? BlockSize => Space?.BlockSize;

    /// <summary>Reasons why recorded mounts are not there.</summary>
    public IReadOnlyList<string> Faults { get; init; } = [];

    /// <summary>Whether the kernel has found errors in the file system.</summary>
    public bool HasErrors { get; init; }

    /// <summary>File system of Windows that it was made in place of.</summary>
    public string? Requested { get; init; }

    /// <summary>Whether it is offline.</summary>
    public bool IsOffline { get; init; }

    /// <summary>Gathers them.</summary>
    public static async Task<VolumeFacts> OfAsync(VolumeServices volumes, VolumeTarget target, IReadOnlyList<Mount> mounts)
    {
        string[] points = [.. MountTable.Of(mounts, target.Node).Select(static mount => mount.Path)];
        string errors = $"/sys/fs/ext4/{Path.GetFileName(target.Node)}/errors_count";
        return new VolumeFacts
        {
            Letter = volumes.Mounts.LetterOf(target),
            MountPoints = points,
            Space = points.Length > 0 ? await volumes.Space.OfAsync(points[0]).ConfigureAwait(false) : null,
            Faults = volumes.Mounts.FaultsOf(target, mounts),
            HasErrors = File.Exists(errors) && File.ReadAllText(errors).Trim() != "0",
            Requested = volumes.Store.Read().Formats.FirstOrDefault(format => format.VirtualDisk == target.Disk.UniqueId
                && format.Partition == target.Key)?.Requested,
            IsOffline = volumes.Mounts.IsOffline(target),
        };
    }
}
