using System.Diagnostics;
using System.Globalization;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Attaching;

/// <summary>Looks at, waits for and ends processes that are not our children.</summary>
internal static class RunningProcess
{
    private const int Terminate = 15;
    private const int KillAtOnce = 9;
    private const int StartTimeField = 19;
    private static readonly TimeSpan s_politeness = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan s_startTimeout = TimeSpan.FromSeconds(10);

    /// <summary>Numbers of the running processes, but this one.</summary>
    public static IEnumerable<int> Others()
    {
        foreach (string folder in Directory.EnumerateDirectories("/proc"))
        {
            if (int.TryParse(Path.GetFileName(folder), NumberStyles.None, CultureInfo.InvariantCulture, out int process) && process != Environment.ProcessId)
            {
                yield return process;
            }
        }
    }

    /// <summary>The mark of a running process; null when there is none of that number.</summary>
    public static ProcessMark? MarkOf(int process)
    {
        try
        {
            // The name is in parentheses and may hold anything; the fields after it are plain.
            string[] fields = File.ReadAllText($"/proc/{process}/stat").Split(')')[^1].TrimStart().Split(' ');
            return fields[0] == "Z"
                ? null
                : new ProcessMark(process, long.Parse(fields[StartTimeField], CultureInfo.InvariantCulture));
        }
        catch (IOException)
        {
            return null;
        }
    }

    /// <summary>Number of the process that has started a process; null when there is none of that number.</summary>
    public static int? ParentOf(int process)
    {
        try
        {
            return int.Parse(File.ReadAllText($"/proc/{process}/stat").Split(')')[^1].TrimStart().Split(' ')[1], CultureInfo.InvariantCulture);
        }
        catch (IOException)
        {
            return null;
        }
    }

    /// <summary>Whether that very process still runs.</summary>
    public static bool IsAlive(ProcessMark mark) => MarkOf(mark.Id) == mark;

    /// <summary>Waits until a program has written its number into a file, which it does when it is ready.</summary>
    /// <exception cref="AttachException">It did not within 10 s; the message is the end of its log.</exception>
    public static ProcessMark WaitForPidFile(string path, string log)
    {
        for (Stopwatch watch = Stopwatch.StartNew(); watch.Elapsed < s_startTimeout; Thread.Sleep(2))
        {
            if (File.Exists(path) && int.TryParse(File.ReadAllText(path).Trim(), out int process) && MarkOf(process) is { } mark)
            {
                return mark;
            }

            if (File.Exists(log) && File.ReadAllText(log).Trim() is { Length: > 0 } complaint)
            {
                throw new AttachException(complaint.ReplaceLineEndings(" "));
            }
        }

        throw new AttachException($"{Path.GetFileName(path)} did not appear within {s_startTimeout.TotalSeconds} s.");
    }

    /// <summary>Ends a process: asked, and after 2 s made to.</summary>
    public static void End(ProcessMark mark)
    {
        foreach (int signal in (int[])[Terminate, KillAtOnce])
        {
            if (!IsAlive(mark))
            {
                return;
            }

            _ = ProcessCalls.Kill(mark.Id, signal);
            for (Stopwatch watch = Stopwatch.StartNew(); IsAlive(mark) && watch.Elapsed < s_politeness; Thread.Sleep(5))
            {
            }
        }
    }
}
