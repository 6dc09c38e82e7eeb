using System.Runtime.InteropServices;
using System.Text;
using Microsoft.Win32.SafeHandles;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Supervision;

/// <summary>
/// A lock that lives exactly as long as its process: the kernel lets go of it however the process ends. Its file carries one line
/// that says who holds it, or how the last holder ended.
/// </summary>
internal sealed class FileLock : IDisposable
{
    private readonly SafeFileHandle file;

    private FileLock(SafeFileHandle file) => this.file = file;

    /// <summary>Takes the lock, or returns null when somebody holds it.</summary>
    public static FileLock? TryTake(string path) => Take(path, Libc.LockExclusive | Libc.LockNonBlocking);

    /// <summary>Takes the lock, however long its holder lives. Blocks the thread.</summary>
    public static FileLock Wait(string path) => Take(path, Libc.LockExclusive)!;

    /// <summary>The line in the file, empty when there is none.</summary>
    public static string Read(string path)
    {
        if (!File.Exists(path))
        {
            return "";
        }

        using var file = OpenFile(path, 0);
        Span<byte> line = stackalloc byte[64];
        return Encoding.ASCII.GetString(line[..RandomAccess.Read(file, line, 0)]).Trim();
    }

    /// <summary>Replaces the line in the file.</summary>
    public void Write(string line)
    {
        RandomAccess.SetLength(file, 0);
        RandomAccess.Write(file, Encoding.ASCII.GetBytes(line + "\n"), 0);
    }

    /// <inheritdoc/>
    public void Dispose() => file.Dispose();

    private static FileLock? Take(string path, int operation)
    {
        var file = OpenFile(path, Libc.OpenCreate);
        while (Libc.Lock(file, operation) != 0)
        {
            if (Marshal.GetLastPInvokeError() != Libc.EINTR)
            {
                file.Dispose();
                return null;
            }
        }

        return new FileLock(file);
    }

    /// <summary>Opened by hand: .NET would take a lock of its own on the same file.</summary>
    private static SafeFileHandle OpenFile(string path, int flags)
    {
        var descriptor = Libc.Open(path, Libc.OpenReadWrite | Libc.OpenCloseOnExec | flags, Libc.OwnerOnly);
        return descriptor >= 0
            ? new SafeFileHandle(descriptor, ownsHandle: true)
            : throw new IOException($"{path}: {Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError())}.");
    }
}
