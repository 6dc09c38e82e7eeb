using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Devices;

// A folder whose files only this user can have put there, even where its parent is open to every user.
//
// Invariants
//  1. The folder is opened once, without following a link in its last component, and checked through that descriptor: a directory of this
//     user that no other user may write to. Every file is opened relative to the descriptor, so a folder that is exchanged later is never used.
//  2. No symbolic link is followed. An opened file is a regular file of this user with one name: a hard link to a file elsewhere is refused.

/// <summary>A folder that belongs to the user of this process alone; its files are opened safely.</summary>
public sealed unsafe class PrivateFolder : IDisposable
{
    private const uint OwnerOnlyFolder = 0x1c0;   // 0700
    private const int WritableByOthers = 0x12;    // 0022

    private readonly int _descriptor;

    private PrivateFolder(string path, int descriptor)
    {
        Path = path;
        _descriptor = descriptor;
    }

    /// <summary>The folder's absolute path, for messages and listings.</summary>
    public string Path { get; }

    /// <summary>Opens a folder; creates it with mode 0700 where it does not exist. Its parents are created too.</summary>
    /// <exception cref="IOException">It cannot be created or opened, or another user owns it or may write to it; the message says which.</exception>
    public static PrivateFolder Open(string path)
    {
        string full = System.IO.Path.GetFullPath(path);
        if (System.IO.Path.GetDirectoryName(full) is { } parent && !Directory.Exists(parent))
        {
#pragma warning disable CA1416 // the engine runs on Linux only
            Directory.CreateDirectory(parent, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
#pragma warning restore CA1416
        }

        int made = Libc.MakeFolder(full, OwnerOnlyFolder);
        Require(made == -Errno.EEXIST ? 0 : made, "create", full);
        return OpenExisting(full);
    }

    /// <summary>Opens a folder that exists.</summary>
    /// <exception cref="IOException">As <see cref="Open"/>; also where it does not exist.</exception>
    public static PrivateFolder OpenExisting(string path)
    {
        string full = System.IO.Path.GetFullPath(path);
        int descriptor = Require(Libc.OpenPath(full, Libc.OpenReadOnly | Libc.OpenFolder | Libc.OpenNoFollow), "open", full);
        string problem = Libc.StatusOf(descriptor, out FileStatus status) != 0 ? "cannot be examined" : ProblemOf(status);
        if (problem.Length > 0)
        {
            Libc.Close(descriptor);
            throw new IOException($"Folder '{full}': {problem}.");
        }

        return new PrivateFolder(full, descriptor);
    }

    /// <summary>Returns why a folder that exists is not safe to keep files in, or an empty string. A link to a folder is followed.</summary>
    public static string ProblemOf(string path) =>
        Libc.StatusOfPath(path, follow: true, out FileStatus status) != 0 ? "cannot be examined" : ProblemOf(status);

    /// <summary>Opens a file of the folder, creating it with mode 0600 where the flags say so; a descriptor or a negative errno.</summary>
    internal int OpenFile(string name, int flags)
    {
        int descriptor = Libc.OpenAt(_descriptor, name, flags | Libc.OpenNoFollow | Libc.OpenNonblocking, Libc.OwnerOnly);
        if (descriptor < 0)
        {
            return descriptor;
        }

        int result = Libc.StatusOf(descriptor, out FileStatus status);
        bool isOurs = result == 0 && status.IsRegularFile && status.UserId == Libc.EffectiveUser() && status.LinkCount <= 1;
        if (!isOurs)
        {
            Libc.Close(descriptor);
            return result != 0 ? result : -Errno.EPERM;
        }

        return descriptor;
    }

    /// <summary>Removes a name: 0 or a negative errno.</summary>
    internal int Unlink(string name) => Libc.UnlinkAt(_descriptor, name);

    /// <summary>Renames a file of the folder over another: 0 or a negative errno.</summary>
    internal int Rename(string from, string to) => Libc.RenameAt(_descriptor, from, to);

    /// <summary>Makes the folder's names durable: 0 or a negative errno.</summary>
    internal int Sync() => Libc.CountOrError(Libc.Sync(_descriptor));

    /// <inheritdoc/>
    public void Dispose() => Libc.Close(_descriptor);

    private static string ProblemOf(in FileStatus status) =>
        !status.IsFolder ? "is not a directory"
        : status.UserId != Libc.EffectiveUser() ? $"belongs to user {status.UserId}, not to user {Libc.EffectiveUser()}"
        : (status.Mode & WritableByOthers) != 0 ? "may be written to by other users; 'chmod go-w' ends that"
        : "";

    private static int Require(int result, string attempt, string path) => result >= 0
        ? result
        : throw new IOException($"Cannot {attempt} '{path}': {Errno.Describe(-result)}.");
}
