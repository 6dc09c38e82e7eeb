using System.Runtime.InteropServices;

namespace TierSpaces.Engine.Lanes.Native;

// The seam between the process's calls on files and the kernel, for tests of a real host: a named call on a named file fails, is cut short or
// blocks, below everything that devices and the state folder do.
//
// TIERSPACES_CALL_FAULTS names a file of rules, which is read again when it changes; without the variable the seam is one branch that the
// compiler removes. A rule is a line:
//
//   CALL FILE EFFECT [COUNT]
//
//   CALL    open, read, write, sync, allocate, truncate, control, stat, rename, unlink, or * for each of them
//   FILE    name of the file, with * for any text
//   EFFECT  EIO, ENOSPC, EINTR, EAGAIN, EROFS, ENODEV; short (half of a read or write); block (until the rule is gone)
//   COUNT   how many calls it meets; without it, each
//
// Invariants
//  1. The first rule that fits a call decides about it. A rule that is used up fits no call.
//  2. Where no rule fits, the call reaches the kernel unchanged.

/// <summary>Faults of system calls on files, ordered by a test.</summary>
internal static class CallFaults
{
    private const int PollMs = 2;

    /// <summary>Whether the process was started with rules; else nothing here is ever called.</summary>
    internal static readonly bool IsOn = Environment.GetEnvironmentVariable(Variable) is { Length: > 0 };

    private const string Variable = "TIERSPACES_CALL_FAULTS";
    private static readonly object s_turn = new();
    private static readonly string s_path = Environment.GetEnvironmentVariable(Variable) ?? "";
    private static List<Rule> s_rules = [];
    private static DateTime s_readFrom;

    /// <summary>Whether a rule fits a call on an open file; it is not used up by the question.</summary>
    internal static bool Concerns(string call, int descriptor) => Find(call, NameOf(descriptor), use: false) is not null;

    /// <summary>Carries out the rule for a call on an open file.</summary>
    /// <param name="call">Name of the call.</param>
    /// <param name="descriptor">The open file.</param>
    /// <param name="length">Bytes of the call; half of them afterwards where it is cut short.</param>
    /// <returns>True when the call has failed: the errno is set as the C library sets it.</returns>
    internal static bool Fails(string call, int descriptor, ref nuint length) => Fails(call, NameOf(descriptor), ref length);

    /// <summary>The same for a call that moves no bytes.</summary>
    internal static bool Fails(string call, int descriptor)
    {
        nuint none = 0;
        return Fails(call, NameOf(descriptor), ref none);
    }

    /// <summary>The same for a call on a path.</summary>
    internal static unsafe bool Fails(string call, byte* path)
    {
        nuint none = 0;
        return Fails(call, Path.GetFileName(Marshal.PtrToStringUTF8((nint)path) ?? ""), ref none);
    }

    private static bool Fails(string call, string file, ref nuint length)
    {
        if (Find(call, file, use: true) is not { } rule)
        {
            return false;
        }

        if (rule.Effect == "block")
        {
            AwaitEnd(call, file);
            return false;
        }

        if (rule.Effect == "short")
        {
            length = length > 1 ? length / 2 : length;
            return false;
        }

        Marshal.SetLastSystemError(ErrnoOf(rule.Effect));
        return true;
    }

    private static int ErrnoOf(string name) => name switch
    {
        "ENOSPC" => Errno.ENOSPC,
        "EINTR" => Errno.EINTR,
        "EAGAIN" => Errno.EAGAIN,
        "EROFS" => Errno.EROFS,
        "ENODEV" => Errno.ENODEV,
        _ => Errno.EIO,
    };

    private static void AwaitEnd(string call, string file)
    {
        while (Find(call, file, use: false) is { Effect: "block" })
        {
            lock (s_turn)
            {
                Monitor.Wait(s_turn, PollMs);
            }
        }
    }

    private static Rule? Find(string call, string file, bool use)
    {
        lock (s_turn)
        {
            ReadChanged();
            Rule? rule = s_rules.Find(rule => rule.Left != 0 && (rule.Call == "*" || rule.Call == call) && Fits(rule.File, file));
            if (use && rule is not null)
            {
                rule.Left--;
            }

            return rule;
        }
    }

    private static void ReadChanged()
    {
        FileInfo file = new(s_path);
        DateTime changed = file.Exists ? file.LastWriteTimeUtc : default;
        if (changed != s_readFrom)
        {
            s_readFrom = changed;
            s_rules = file.Exists ? Read() : [];
        }
    }

    private static List<Rule> Read()
    {
        List<Rule> rules = [];
        using StreamReader reader = new(s_path);
        while (reader.ReadLine() is { } line)
        {
            string[] words = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (words.Length is 3 or 4)
            {
                rules.Add(new Rule(words[0], words[1], words[2]) { Left = words.Length == 4 && int.TryParse(words[3], out int count) ? count : -1 });
            }
        }

        return rules;
    }

    private static bool Fits(string pattern, string name)
    {
        string[] parts = pattern.Split('*');
        if (parts.Length == 1)
        {
            return pattern == name;
        }

        int at = parts[0].Length;
        if (!name.StartsWith(parts[0], StringComparison.Ordinal))
        {
            return false;
        }

        foreach (string part in parts[1..^1])
        {
            int found = name.IndexOf(part, at, StringComparison.Ordinal);
            if (found < 0)
            {
                return false;
            }

            at = found + part.Length;
        }

        return name.Length - at >= parts[^1].Length && name.EndsWith(parts[^1], StringComparison.Ordinal);
    }

    private static string NameOf(int descriptor) =>
        Path.GetFileName(new FileInfo($"/proc/self/fd/{descriptor}").LinkTarget ?? "");

    private sealed record Rule(string Call, string File, string Effect)
    {
        /// <summary>Calls it still meets; negative: no limit.</summary>
        internal int Left { get; set; }
    }
}
