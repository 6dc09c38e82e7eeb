using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Management;

/// <summary>
/// A program of the machine that knows the signatures of file systems, partition tables and storage systems. Its calls block; they are made outside lanes.
/// </summary>
public interface ISignatureTool
{
    /// <summary>Name of the program, for messages.</summary>
    string Name { get; }

    /// <summary>Returns the signatures on an image file or a block device; null if the program is not installed or cannot answer. Nothing is written.</summary>
    /// <param name="path">Absolute path.</param>
    IReadOnlyList<DiskSignature>? List(string path);

    /// <summary>Makes the system read the partition table of a block device again. The device is closed. A failure is ignored.</summary>
    /// <param name="path">Absolute path.</param>
    void ReadPartitionsAgain(string path);
}
