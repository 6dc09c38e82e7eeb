namespace TierSpaces.Contracts;

/// <summary>A file system that a volume can be formatted with. A shell gets the name alone.</summary>
[WindowsClass("SupportedFileSystem", "FileSystem", "MadeAs", Value = nameof(FileSystem))]
public sealed record SupportedFileSystemInfo
{
    /// <summary>Name that Format-Volume takes.</summary>
    public string FileSystem { get; init; } = "";

    /// <summary>File system that is made.</summary>
    public string MadeAs { get; init; } = "";
}
