using TierSpaces.Contracts;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Volumes;

/// <summary>Folders that volumes are mounted on: absolute, empty, made where they are missing.</summary>
internal static class AccessPath
{
    /// <summary>Returns the drive letter or the path that a text means.</summary>
    public static (string? Letter, string? Path) Parse(string text) => DriveLetter.IsRoot(text) || (text.Length == 1 && DriveLetter.TryParse(text) is not null)
        ? (DriveLetter.Parse(text, "AccessPath"), null)
        : (null, text.Length > 1 ? System.IO.Path.TrimEndingDirectorySeparator(text) : text);

    /// <summary>Checks a folder; true when it is there already.</summary>
    /// <exception cref="StorageException">A volume cannot be mounted there.</exception>
    public static bool Check(string path)
    {
        string? wrong = !Path.IsPathFullyQualified(path) || path.Any(char.IsControl) ? "is not an absolute path"
            : Path.TrimEndingDirectorySeparator(Path.GetFullPath(path)) != path ? "has a dot segment or ends in a slash"
            : path == "/" ? "is the root folder"
            : RealPathOf(path) is var real && real != path ? $"goes through a symbolic link; without links it is '{real}'"
            : File.Exists(path) ? "is a file"
            : Directory.Exists(path) && Directory.EnumerateFileSystemEntries(path).Any() ? "is a folder that is not empty"
            : null;
        return wrong is null ? Directory.Exists(path) : throw new StorageException(
            StorageErrors.AccessPathInvalid, $"-AccessPath '{path}': {wrong}. Valid: a drive letter like E:, or the path of an empty or missing folder.",
            "Choose another path.", path);
    }

    /// <summary>The path with the links in it resolved, as the kernel shows a mount on it; its end may not be there yet.</summary>
    private static string RealPathOf(string path)
    {
        string parent = path;
        while (parent != "/" && !Path.Exists(parent))
        {
            parent = Path.GetDirectoryName(parent)!;
        }

        return (FileSystemCalls.RealPath(parent) ?? parent).TrimEnd('/') + path[parent.TrimEnd('/').Length..];
    }

    /// <summary>Removes a folder if it is empty.</summary>
    public static bool RemoveEmpty(string path)
    {
        bool isEmpty = Directory.Exists(path) && !Directory.EnumerateFileSystemEntries(path).Any();
        if (isEmpty)
        {
            Directory.Delete(path);
        }

        return isEmpty;
    }
}
