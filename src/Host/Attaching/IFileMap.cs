using TierSpaces.Engine.Formats;

namespace TierSpaces.Host.Attaching;

/// <summary>A file and where it lies.</summary>
/// <param name="VirtualDisk">Unique identifier of the virtual disk.</param>
/// <param name="Pieces">Its pieces in the order of the file; bytes of the virtual disk.</param>
internal sealed record FilePlace(string VirtualDisk, IReadOnlyList<PinnedRange> Pieces);

/// <summary>A file system and where it lies.</summary>
/// <param name="VirtualDisk">Unique identifier of the virtual disk.</param>
/// <param name="Range">Bytes of the virtual disk.</param>
internal sealed record VolumePlace(string VirtualDisk, PinnedRange Range);

/// <summary>Tells where files lie on connected virtual disks.</summary>
internal interface IFileMap
{
    /// <summary>Returns the current place of the file that -FilePath names.</summary>
    /// <exception cref="Contracts.StorageException">The file does not exist, is not on a connected virtual disk, or its file system does not report
    /// places.</exception>
    FilePlace Find(string path);

    /// <summary>Returns the place of the file system of a path; the path may be that of a block device.</summary>
    /// <param name="path">The path.</param>
    /// <param name="parameter">Parameter that gave it, for errors.</param>
    /// <exception cref="Contracts.StorageException">The path is not there, or not on a connected virtual disk.</exception>
    VolumePlace FindVolume(string path, string parameter);
}
