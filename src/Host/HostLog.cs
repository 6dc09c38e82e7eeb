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
/// <item>A log that cannot be written loses lines and stops nothing: a thread of its own writes them in order. While it cannot,
/// <see cref="LinesMax"/> lines wait; further ones are lost, and their number is the next line.</item>
/// <item>A process that exits waits at most <see cref="ExitPatience"/> for what is left.</item>
/// </list>
/// </summary>
internal static class HostLog
{
    /// <summary>Size at which the file becomes <c>host.log.old</c>, in bytes.</summary>
    public const long BytesMax = 1 << 20;

    /// <summary>Most lines that wait to be written.</summary>
    public const int LinesMax = 4096;

    /// <summary>Longest wait for lines that are not written yet, where the process ends.</summary>
    public static readonly TimeSpan ExitPatience = TimeSpan.FromSeconds(2);

    private static readonly int s_appendFlags = Libc.OpenReadWrite | Libc.OpenCreate | Libc.OpenAppend | Libc.OpenNoFollow;
    private static readonly object s_gate = new();
    private static readonly Queue<(string? File, string Line)> s_lines = new();   // the first one is being written
    private static string? s_file;
    private static long s_lost;
    private static bool s_hasWriter;

    /// <summary>Sends every later line to a file.</summary>
    /// <param name="path">Path of the file; it is created with mode 0600, and a symbolic link is not followed.</param>
    public static void WriteTo(string path) => s_file = path;

    /// <summary>Writes one line, soon; waits for nothing.</summary>
    public static void Write(string message)
    {
        lock (s_gate)
        {
            if (s_lines.Count >= LinesMax)
            {
                s_lost++;
                return;
            }

            if (s_lost > 0)
            {
                s_lines.Enqueue((s_file, Line($"{s_lost} lines are lost: the log could not be written.")));
                s_lost = 0;
            }

            s_lines.Enqueue((s_file, Line(message)));
            StartWriter();
            Monitor.PulseAll(s_gate);
        }
    }

    /// <summary>Waits until every line is written.</summary>
    /// <param name="patience">Longest wait.</param>
    /// <returns>Whether they are.</returns>
    public static bool Flush(TimeSpan patience)
    {
        long end = Environment.TickCount64 + (long)patience.TotalMilliseconds;
        lock (s_gate)
        {
            while (s_lines.Count > 0)
            {
                int left = (int)(end - Environment.TickCount64);
                if (left <= 0 || !Monitor.Wait(s_gate, left))
                {
                    return s_lines.Count == 0;
                }
            }

            return true;
        }
    }

    private static string Line(string message) => string.Create(
        CultureInfo.InvariantCulture, $"{DateTime.UtcNow:yyyy-MM-ddTHH:mm:ss.fffZ} {Environment.ProcessId} {message}");

    private static void StartWriter()
    {
        if (!s_hasWriter)
        {
            s_hasWriter = true;
            new Thread(WriteLines) { IsBackground = true, Name = "log" }.Start();
            AppDomain.CurrentDomain.ProcessExit += static (_, _) => Flush(ExitPatience);
        }
    }

    private static void WriteLines()
    {
        while (true)
        {
            (string? File, string Line) next;
            lock (s_gate)
            {
                while (!s_lines.TryPeek(out next))
                {
                    Monitor.Wait(s_gate);
                }
            }

            Write(next.File, next.Line);
            lock (s_gate)
            {
                s_lines.Dequeue();
                Monitor.PulseAll(s_gate);
            }
        }
    }

    private static void Write(string? path, string line)
    {
        try
        {
            if (path is null)
            {
                Console.Error.WriteLine(line);
            }
            else
            {
                Append(path, Encoding.UTF8.GetBytes(line + "\n"));
            }
        }
        catch (IOException)
        {
            // The line is lost.
        }
    }

    private static void Append(string path, byte[] line)
    {
        Rotate(path);
        int descriptor = Libc.OpenPath(path, s_appendFlags, Libc.OwnerOnly);
        if (descriptor >= 0)
        {
            _ = Libc.Write(descriptor, line);
            _ = Libc.Close(descriptor);
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
