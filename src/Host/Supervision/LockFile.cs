using System.Text;
using Microsoft.Win32.SafeHandles;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Supervision;

/// <summary>
/// A lock that lives exactly as long as its process: the kernel releases it however the process ends. The file has one line,
/// which names the holder, or says how the last holder ended.
/// </summary>
internal sealed class LockFile : IDisposable
{
    private readonly SafeFileHandle _file;

    private LockFile(SafeFileHandle file) => _file = file;

    /// <summary>Takes the lock; returns null if another process holds it.</summary>
    public static LockFile? TryTake(string path) => Take(path, Libc.LockExclusive | Libc.LockNonblocking);

    /// <summary>Takes the lock, however long its holder lives. Blocks the thread.</summary>
    public static LockFile Wait(string path) => Take(path, Libc.LockExclusive)!;

    /// <summary>The line in the file, empty when there is none.</summary>
    public static string Read(string path)
    {
        if (!File.Exists(path))
        {
            return "";
        }

        using SafeFileHandle file = OpenFile(path, 0);
        Span<byte> line = stackalloc byte[64];
        return Encoding.ASCII.GetString(line[..RandomAccess.Read(file, line, 0)]).Trim();
    }

    /// <summary>Replaces the line in the file.</summary>
    public void Write(string line)
    {
        RandomAccess.SetLength(_file, 0);
        RandomAccess.Write(_file, Encoding.ASCII.GetBytes(line + "\n"), 0);
    }

    /// <inheritdoc/>
    public void Dispose() => _file.Dispose();

    private static LockFile? Take(string path, int operation)
    {
        SafeFileHandle file = OpenFile(path, Libc.OpenCreate);
        while (Libc.CountOrError(Libc.Lock((int)file.DangerousGetHandle(), operation)) is < 0 and var error)
        {
            if (error != -Errno.EINTR)
            {
                file.Dispose();
                return null;
            }
        }

        return new LockFile(file);
    }

    /// <summary>Opened by hand: .NET would take a lock of its own on the same file.</summary>
    private static SafeFileHandle OpenFile(string path, int flags)
    {
        int descriptor = Libc.OpenPath(path, Libc.OpenReadWrite | flags, Libc.OwnerOnly);
        return descriptor >= 0
            ? new SafeFileHandle(descriptor, ownsHandle: true)
            : throw new IOException($"{path}: {Errno.Describe(-descriptor)}.");
    }
}
