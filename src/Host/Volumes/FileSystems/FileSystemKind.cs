using System.Text;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes.FileSystems;

/// <summary>Parts of a format.</summary>
/// <param name="Node">Block device.</param>
/// <param name="Size">Bytes of it.</param>
/// <param name="Label">Label; empty for none.</param>
/// <param name="ClusterSize">Bytes of an allocation unit; null for the default.</param>
/// <param name="Stripe">Stripe of the virtual disk.</param>
/// <param name="NoTrim">Whether the device is not trimmed before.</param>
internal sealed record FormatPlan(string Node, long Size, string Label, uint? ClusterSize, StripeGeometry Stripe, bool NoTrim);

/// <summary>A kind of file system: its tools, limits, and the words of its commands. Everything that differs between kinds is in one class each.</summary>
internal abstract class FileSystemKind
{
    /// <summary>Its name in Linux and in blkid.</summary>
    public abstract string Name { get; }

    /// <summary>Type that volume objects show.</summary>
    public abstract FileSystemType Shown { get; }

    /// <summary>Program that makes it.</summary>
    public abstract string MakeTool { get; }

    /// <summary>Longest label.</summary>
    public abstract int LabelMax { get; }

    /// <summary>Whether the length of a label counts in UTF-16 characters; in bytes of UTF-8 otherwise.</summary>
    public virtual bool CountsCharacters => false;

    /// <summary>Sizes of an allocation unit in bytes, the default first.</summary>
    public abstract IReadOnlyList<uint> ClusterSizes { get; }

    /// <summary>Fewest bytes of a device.</summary>
    public abstract long BytesMin { get; }

    /// <summary>Fewest allocation units of a device.</summary>
    public virtual int ClustersMin => 1;

    /// <summary>Type that mount takes.</summary>
    public virtual string MountType => Name;

    /// <summary>Whether its device is mounted by one process and only once; further mounts are views of the first.</summary>
    public virtual bool MountsOnce => false;

    /// <summary>Whether its size can be reduced.</summary>
    public virtual bool CanShrink => false;

    /// <summary>Whether it is resized while it is mounted, and only then.</summary>
    public virtual bool ResizesMounted => false;

    /// <summary>Whether it can be grown and labelled while it is mounted; else it is unmounted for as long.</summary>
    public virtual bool ChangesMounted => true;

    /// <summary>Arguments of the program that makes it.</summary>
    public abstract string[] MakeWords(FormatPlan plan);

    /// <summary>Checks it while it is mounted.</summary>
    /// <param name="work">Tools and device.</param>
    /// <param name="path">Mount point.</param>
    public abstract Task<RepairStatus> ScanMountedAsync(FileSystemWork work, string path);

    /// <summary>Checks it while it is not mounted; changes nothing.</summary>
    public abstract Task<RepairStatus> ScanAsync(FileSystemWork work);

    /// <summary>Repairs it while it is not mounted.</summary>
    public abstract Task<RepairStatus> FixAsync(FileSystemWork work);

    /// <summary>Sets the label.</summary>
    /// <param name="work">Tools and device.</param>
    /// <param name="path">Mount point; null while it is not mounted.</param>
    /// <param name="label">The label; empty for none.</param>
    public abstract Task SetLabelAsync(FileSystemWork work, string? path, string label);

    /// <summary>Grows it to its device.</summary>
    /// <param name="work">Tools and device.</param>
    /// <param name="path">Mount point; null while it is not mounted.</param>
    public abstract Task GrowAsync(FileSystemWork work, string? path);

    /// <summary>Shrinks it.</summary>
    /// <param name="work">Tools and device.</param>
    /// <param name="path">Mount point; null while it is not mounted.</param>
    /// <param name="bytes">New size.</param>
    public virtual Task ShrinkAsync(FileSystemWork work, string? path, long bytes) => throw CannotShrink();

    /// <summary>Fewest bytes to which it can be shrunk now.</summary>
    /// <param name="work">Tools and device.</param>
    /// <param name="path">Mount point; null while it is not mounted.</param>
    public virtual Task<long> SizeMinAsync(FileSystemWork work, string? path) => throw CannotShrink();

    /// <summary>Returns as much of a name as a label has room for; a name that is cut does not end in a space.</summary>
    public string Cut(string name)
    {
        string whole = name;
        while ((CountsCharacters ? name.Length : Encoding.UTF8.GetByteCount(name)) > LabelMax)
        {
            name = name[..^(char.IsLowSurrogate(name[^1]) ? 2 : 1)];
        }

        return name.Length < whole.Length ? name.TrimEnd(' ') : name;
    }

    /// <summary>Checks a label.</summary>
    /// <exception cref="StorageException">It is too long or holds a character that labels cannot have.</exception>
    public void CheckLabel(string label)
    {
        int length = CountsCharacters ? label.Length : Encoding.UTF8.GetByteCount(label);
        if (length > LabelMax || label.Any(char.IsControl) || label.Contains('/', StringComparison.Ordinal))
        {
            string wrong = length > LabelMax ? $"has {length} {Unit}" : "has a control character or a slash";
            throw new StorageException(
                StorageErrors.InvalidParameter, $"-NewFileSystemLabel '{label}': {wrong}. Valid: up to {LabelMax} {Unit} on {Name}.",
                "Give a shorter label without such characters.", "NewFileSystemLabel");
        }
    }

    /// <summary>Sizes of an allocation unit on a device: not smaller than its sectors.</summary>
    public IEnumerable<uint> ClusterSizesOn(int sectorSize) => ClusterSizes.Where(size => size >= sectorSize).Order();

    /// <summary>Checks the size of an allocation unit.</summary>
    /// <exception cref="StorageException">It is none of those that the file system has on this device.</exception>
    public void CheckClusterSize(uint size, int sectorSize)
    {
        if (!ClusterSizesOn(sectorSize).Contains(size))
        {
            throw new StorageException(
                StorageErrors.ClusterSize,
                $"-AllocationUnitSize {size}: is no size of {Name} on a disk with sectors of {sectorSize} bytes. Valid: {string.Join(", ", ClusterSizesOn(sectorSize))}.",
                "Give one of these, or leave the parameter out.", "AllocationUnitSize");
        }
    }

    /// <summary>Checks the size of a device.</summary>
    /// <exception cref="StorageException">It is too small.</exception>
    public void CheckSize(long bytes, uint? clusterSize = null)
    {
        if (clusterSize is { } cluster && bytes < (long)cluster * ClustersMin)
        {
            throw new StorageException(
                StorageErrors.ClusterSize,
                $"-AllocationUnitSize {cluster}: the volume has {SizeText.Exact(bytes)}, and {Name} needs {ClustersMin} units. Valid: up to {SizeText.Exact(bytes / ClustersMin)}.",
                "Give a smaller one, or leave the parameter out.", "AllocationUnitSize");
        }

        if (bytes < BytesMin)
        {
            throw new StorageException(
                StorageErrors.SizeNotSupported, $"The volume has {SizeText.Exact(bytes)}; {Name} needs at least {SizeText.Exact(BytesMin)}.",
                "Make a larger partition, or choose another file system: Get-SupportedFileSystems.", "FileSystem");
        }
    }

    private StorageException CannotShrink() => new(
        StorageErrors.SizeNotSupported, $"-Size: {Name} cannot be made smaller.",
        "Give a size that is not below the present one, or copy the data to a new volume.", "Size");

    /// <summary>Unit of the length of a label.</summary>
    public string Unit => CountsCharacters ? "characters" : "bytes";
}
