using System.Globalization;
using System.Text;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host;

/// <summary>
/// The log: standard error, or once <see cref="WriteTo"/> has named it the file <c>host.log</c>. One line per message, UTC first.
/// <list type="number">
/// <item>A detached process names the file before its first line: .NET binds standard error at its first use, so a later
/// redirection would not reach it.</item>
/// <item>Host and supervisor share the file. Each line is one append to whatever file has the name at that moment, so either process may
/// rotate the log without the other.</item>
/// <item>A log that cannot be written loses lines and stops nothing.</item>
/// </list>
/// </summary>
internal static class HostLog
{
    /// <summary>Size at which the file becomes <c>host.log.old</c>, in bytes.</summary>
    public const long BytesMax = 1 << 20;

    private static readonly int s_appendFlags = Libc.OpenReadWrite | Libc.OpenCreate | Libc.OpenAppend | Libc.OpenNoFollow;
    private static readonly object s_turn = new();
    private static string? s_file;

    /// <summary>Sends every later line to a file.</summary>
    /// <param name="path">Path of the file; it is created with mode 0600, and a symbolic link is not followed.</param>
    public static void WriteTo(string path) => s_file = path;

    /// <summary>Writes one line.</summary>
    public static void Write(string message)
    {
        string now = DateTime.UtcNow.ToString("yyyy-MM-ddTHH:mm:ss.fffZ", CultureInfo.InvariantCulture);
        string line = $"{now} {Environment.ProcessId} {message}";
        if (s_file is { } path)
        {
            Append(path, Encoding.UTF8.GetBytes(line + "\n"));
        }
        else
        {
            Console.Error.WriteLine(line);
        }
    }

    private static void Append(string path, byte[] line)
    {
        lock (s_turn)
        {
            Rotate(path);
            int descriptor = Libc.OpenPath(path, s_appendFlags, Libc.OwnerOnly);
            if (descriptor >= 0)
            {
                _ = Libc.Write(descriptor, line);
                _ = Libc.Close(descriptor);
            }
        }
    }

    private static void Rotate(string path)
    {
        try
        {
            if (new FileInfo(path) is { Exists: true, LinkTarget: null, Length: > BytesMax })
            {
                File.Move(path, path + ".old", overwrite: true);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The file grows on: a full or read-only folder is no reason to stop.
        }
    }
}
