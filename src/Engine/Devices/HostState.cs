using TierSpaces.Engine.Devices.Identity;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

// The host's few files. A file is replaced in this order, so that a crash leaves the old or the new one, whole:
//   1. write a temporary file  2. fsync it  3. rename it over the name  4. fsync the folder
//
// Memory is a shared mapping of a file in the runtime folder. Its name ends in the kernel's boot id: after a power cut
// the name is another, and what the page cache may have lost is never looked at.
//
// Invariant: every file is opened through a PrivateFolder, so no other user can make the host write to a file elsewhere.

/// <summary>The state folder of a host on this machine.</summary>
public sealed unsafe class HostState : IHostState, IDisposable
{
    private const string TemporarySuffix = ".tmp";

    private readonly Dictionary<string, IoBuffer> _mapped = [];
    private readonly HashSet<string> _returned = [];   // of those: not in use
    private readonly PrivateFolder _folder;
    private readonly PrivateFolder _runtimeFolder;
    private readonly string _bootId;

    /// <summary>Uses a state folder and a runtime folder, making them (mode 0700) when they are not there.</summary>
    /// <param name="folder">Survives restarts of the machine.</param>
    /// <param name="runtimeFolder">Memory is mapped here; best on tmpfs.</param>
    /// <exception cref="IOException">A folder can be neither opened nor created, or another user may write to it.</exception>
    public HostState(string folder, string runtimeFolder)
        : this(folder, runtimeFolder, SysfsNode.ReadText("/proc/sys/kernel/random/boot_id"))
    {
    }

    internal HostState(string folder, string runtimeFolder, string bootId)
    {
        _folder = PrivateFolder.Open(folder);
        _runtimeFolder = PrivateFolder.Open(runtimeFolder);
        _bootId = bootId;
    }

    /// <inheritdoc/>
    public Guid BootId => Guid.TryParse(_bootId, out Guid id) ? id : Guid.Empty;

    /// <inheritdoc/>
    public byte[]? ReadFile(string name)
    {
        string path = PathOf(_folder, name);
        int descriptor = _folder.OpenFile(name, Libc.OpenReadOnly);
        if (descriptor == -Errno.ENOENT)
        {
            return null;
        }

        Require(descriptor, "open", path);
        try
        {
            Require(Libc.StatusOf(descriptor, out FileStatus status), "measure", path);
            byte[] content = new byte[status.Size];
            ReadWhole(descriptor, path, content);
            return content;
        }
        finally
        {
            Libc.Close(descriptor);
        }
    }

    /// <inheritdoc/>
    public void WriteFile(string name, ReadOnlySpan<byte> content)
    {
        string path = PathOf(_folder, name);
        string temporary = name + TemporarySuffix;
        _ = _folder.Unlink(temporary);   // of a writer that was killed
        try
        {
            WriteDurably(temporary, path, content);
            Require(_folder.Rename(temporary, name), "rename", path);
        }
        catch
        {
            _ = _folder.Unlink(temporary);
            throw;
        }

        Require(_folder.Sync(), "make durable", path);
    }

    /// <inheritdoc/>
    public void DeleteFile(string name)
    {
        string path = PathOf(_folder, name);
        int result = _folder.Unlink(name);
        if (result != -Errno.ENOENT)
        {
            Require(result, "delete", path);
            Require(_folder.Sync(), "make durable", path);
        }
    }

    /// <inheritdoc/>
    /// <exception cref="IOException">The runtime folder has no room or refuses.</exception>
    public IoBuffer MapMemory(string name, int size)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(size);
        if (_mapped.TryGetValue(name, out IoBuffer mapped))
        {
            return _returned.Remove(name) && mapped.Length == size
                ? mapped : throw new InvalidOperationException($"The memory '{name}' is mapped already.");
        }

        DeleteMemoryOfOtherBoots(name);
        string path = PathOf(_runtimeFolder, name);
        int descriptor = Require(_runtimeFolder.OpenFile(MemoryName(name), Libc.OpenReadWrite | Libc.OpenCreate), "create", path);
        try
        {
            // Allocated, not only extended: a full file system must answer here and not with a signal at the first store.
            Require(MakeRoom(descriptor, size), "make room for", path);
            void* memory = Libc.Map(null, (nuint)size, Libc.ProtectionReadWrite, Libc.MapShared, descriptor, 0);
            Require(Libc.MapFailed(memory) ? -Libc.LastError() : 0, "map", path);
            return _mapped[name] = new IoBuffer((byte*)memory, size);
        }
        finally
        {
            Libc.Close(descriptor);
        }
    }

    /// <inheritdoc/>
    public void ReturnMemory(string name)
    {
        if (_mapped.ContainsKey(name))
        {
            _returned.Add(name);
        }
    }

    /// <inheritdoc/>
    public void ReleaseMemory(string name)
    {
        _returned.Remove(name);
        if (_mapped.Remove(name, out IoBuffer memory))
        {
            _ = Libc.Unmap(memory.Pointer, (nuint)memory.Length);
        }

        _ = PathOf(_runtimeFolder, name);
        _ = _runtimeFolder.Unlink(MemoryName(name));
    }

    /// <summary>Unmaps what is mapped and keeps its files.</summary>
    public void Dispose()
    {
        foreach (IoBuffer memory in _mapped.Values)
        {
            _ = Libc.Unmap(memory.Pointer, (nuint)memory.Length);
        }

        _mapped.Clear();
        _folder.Dispose();
        _runtimeFolder.Dispose();
    }

    private void WriteDurably(string temporary, string path, ReadOnlySpan<byte> content)
    {
        int flags = Libc.OpenReadWrite | Libc.OpenCreate | Libc.OpenExclusive;
        int descriptor = Require(_folder.OpenFile(temporary, flags), "create", path);
        try
        {
            WriteWhole(descriptor, path, content);
            Require(Libc.CountOrError(Libc.Sync(descriptor)), "make durable", path);
        }
        finally
        {
            Libc.Close(descriptor);
        }
    }

    private static void ReadWhole(int descriptor, string path, Span<byte> content)
    {
        fixed (byte* target = content)
        {
            for (int done = 0; done < content.Length;)
            {
                nint count = Libc.ReadAt(descriptor, target + done, (nuint)(content.Length - done), done);
                done += Progress(Libc.CountOrError(count), path);
            }
        }
    }

    private static void WriteWhole(int descriptor, string path, ReadOnlySpan<byte> content)
    {
        fixed (byte* source = content)
        {
            for (int done = 0; done < content.Length;)
            {
                nint count = Libc.WriteAt(descriptor, source + done, (nuint)(content.Length - done), done);
                done += Progress(Libc.CountOrError(count), path);
            }
        }
    }

    private static int Progress(int count, string path) => count switch
    {
        0 => throw new IOException($"'{path}' ended early."),
        -Errno.EINTR => 0,
        _ => Require(count, "read or write", path),
    };

    private static string PathOf(PrivateFolder folder, string name)
    {
        bool plain = name.Length is > 0 and <= 128
            && name[0] != '.'
            && !name.EndsWith(TemporarySuffix, StringComparison.Ordinal)
            && name.All(character => char.IsAsciiLetterOrDigit(character) || character is '.' or '-' or '_');
        return plain
            ? Path.Combine(folder.Path, name)
            : throw new ArgumentException($"'{name}' is no name of a state file: 1 to 128 letters, digits, '.', '-' and '_', not a leading '.'.", nameof(name));
    }

    private static int MakeRoom(int descriptor, int size)
    {
        int result = Libc.CountOrError(Libc.Allocate(descriptor, 0, 0, size));
        bool mustGrow = result == -Errno.EOPNOTSUPP
            && Libc.StatusOf(descriptor, out FileStatus status) == 0 && status.Size < size;
        return mustGrow ? Libc.CountOrError(Libc.Truncate(descriptor, size)) : result == -Errno.EOPNOTSUPP ? 0 : result;
    }

    private string MemoryName(string name) => $"{name}.{_bootId}";

    private void DeleteMemoryOfOtherBoots(string name)
    {
        foreach (string path in Directory.EnumerateFiles(_runtimeFolder.Path, name + ".*"))
        {
            string file = Path.GetFileName(path);
            string suffix = file[(name.Length + 1)..];
            if (Guid.TryParse(suffix, out _) && suffix != _bootId)
            {
                _ = _runtimeFolder.Unlink(file);
            }
        }
    }

    private static int Require(int result, string attempt, string path) => result >= 0
        ? result
        : throw new IOException($"Cannot {attempt} '{path}': {Errno.Describe(-result)}.");
}
