using System.Numerics;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes.FileSystems;

/// <summary>
/// Chooses the file system for a requested name. Linux names mean themselves. Names of Windows' file systems that this machine cannot make are answered
/// with a local one, xfs for ReFS and ext4 else, or the one that <see cref="Variable"/> names; the caller says so.
/// </summary>
internal sealed class FileSystemChoice(VolumeTools tools, string configured)
{
    /// <summary>Environment variable with the local file system that is made in place of those of Windows.</summary>
    public const string Variable = "TIERSPACES_FILE_SYSTEM";

    private static readonly FileSystemKind[] s_kinds = [new Ext4(), new Xfs(), new Btrfs(), new Ntfs()];
    private static readonly string[] s_substituted = ["NTFS", "ReFS", "CSVFS_NTFS", "CSVFS_ReFS"];

    /// <summary>Every name that is accepted.</summary>
    public static IEnumerable<string> Names => s_kinds.Select(static kind => kind.Name).Where(static name => name != "ntfs").Concat(s_substituted);

    /// <summary>The kind of a found file system; null for one that is only mounted.</summary>
    public static FileSystemKind? Find(string type) => Array.Find(s_kinds, kind => kind.Name.Equals(type, StringComparison.OrdinalIgnoreCase));

    /// <summary>Checks the value of the environment variable.</summary>
    /// <exception cref="FormatException">It is no local file system.</exception>
    public static string Parse(string text) => text.Length == 0 || Find(text) is { Name: not "ntfs" }
        ? text
        : throw new FormatException($"'{text}' is no local file system. Valid: ext4, xfs, btrfs.");

    /// <summary>Names that Get-SupportedFileSystems returns: those whose tools are installed, and those that are answered with one of them.</summary>
    public IEnumerable<string> Supported() => Names.Where(name => Find(name) is { } kind && name != "NTFS" ? tools.Has(kind.MakeTool)
        : tools.Has(Choose(name).Kind.MakeTool));

    /// <summary>Returns the kind to make, and the requested name where the kind is made in place of it.</summary>
    /// <param name="requested">Requested name; null for the default.</param>
    /// <exception cref="StorageException">There is no such file system here.</exception>
    public (FileSystemKind Kind, string? StandsFor) Choose(string? requested)
    {
        if (requested is null)
        {
            return (Local("ext4"), null);
        }

        string? windows = Array.Find(s_substituted, name => name.Equals(requested, StringComparison.OrdinalIgnoreCase));
        if (windows is "NTFS" && tools.Has("mkfs.ntfs"))
        {
            return (Find("ntfs")!, null);
        }

        if (windows is not null)
        {
            return (Local(windows.Contains("ReFS", StringComparison.Ordinal) ? "xfs" : "ext4"), windows);
        }

        return (Find(requested) ?? throw new StorageException(
            StorageErrors.FileSystemNotSupported, $"-FileSystem '{requested}': is not made here. Valid: {string.Join(", ", Names)}.",
            "Choose one of these: Get-SupportedFileSystems.", "FileSystem"), null);
    }

    /// <summary>
    /// Returns the size of an allocation unit to make. A size that the requested file system of Windows has, and the kind that is made in place of it does not
    /// have on the disk, becomes the default, and a remark says so. Without a requested file system the sizes of NTFS count, which is the default of Windows.
    /// Any other size is returned as it is.
    /// </summary>
    /// <param name="kind">Kind to make.</param>
    /// <param name="requested">Requested name; null for the default.</param>
    /// <param name="standsFor">Requested name where the kind is made in place of it; null else.</param>
    /// <param name="size">Requested size in bytes; null for the default.</param>
    /// <param name="sectorSize">Bytes of a logical sector of the disk.</param>
    /// <param name="warn">Takes the remark.</param>
    public static uint? ClusterSize(FileSystemKind kind, string? requested, string? standsFor, uint? size, int sectorSize, Action<string> warn)
    {
        string? windows = requested is null ? "NTFS" : standsFor;
        if (size is not { } asked || windows is null || kind.ClusterSizesOn(sectorSize).Contains(asked) || !IsOfWindows(windows, asked))
        {
            return size;
        }

        string made = requested is null ? $"{kind.Name}, which is made without -FileSystem," : $"{kind.Name}, which is made in place of {windows},";
        warn($"-AllocationUnitSize {asked} has no effect: {windows} has it, and {made} does not on a disk with sectors of {sectorSize} bytes. "
            + $"The default of {kind.ClusterSizes[0]} bytes is used. Valid on this disk: {string.Join(", ", kind.ClusterSizesOn(sectorSize))}.");
        return null;
    }

    /// <summary>Whether Microsoft documents a size of an allocation unit for a file system of Windows.</summary>
    private static bool IsOfWindows(string name, uint size)
    {
        const uint ntfsMin = 512;
        const uint ntfsMax = 2 << 20;
        return name.Contains("ReFS", StringComparison.Ordinal) ? size is 4096 or 65536 : BitOperations.IsPow2(size) && size is >= ntfsMin and <= ntfsMax;
    }

    private FileSystemKind Local(string otherwise) => Find(configured.Length > 0 ? configured : otherwise)!;
}
