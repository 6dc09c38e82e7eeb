using System.Globalization;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Health;

// Invariants
//  1. A file is run only if neither it nor its folder may be written to by another user than root and the user of the host, and if it is no link.
//  2. A hook that is not run is logged once with the reason, and again only with another reason.

/// <summary>The folder of the hooks: executables that are run for each change of the health.</summary>
/// <param name="path">Its path; it need not exist.</param>
internal sealed class HookFolder(string path)
{
    /// <summary>Environment variable that names the folder.</summary>
    public const string Variable = "TIERSPACES_HOOKS";

    /// <summary>Environment variable with the longest time that a hook may run.</summary>
    public const string LimitVariable = "TIERSPACES_HOOK_SECONDS";

    /// <summary>Name of the folder in the home of the host.</summary>
    public const string DefaultName = "hooks";

    /// <summary>Longest time that a hook may run unless <see cref="LimitVariable"/> says otherwise.</summary>
    public static readonly TimeSpan DefaultLimit = TimeSpan.FromSeconds(30);

    private const int LongestLimitSeconds = 3600;
    private const uint Root = 0;
    private const int Executable = 0x49;         // a permission to execute, of anyone
    private const int WritableByOthers = 0x12;   // of the group and of all

    private readonly Dictionary<string, string> _logged = [];

    /// <summary>Returns the hooks in the order of their names.</summary>
    public IReadOnlyList<string> Read()
    {
        if (!Directory.Exists(path))
        {
            return [];
        }

        try
        {
            if (!IsSafe(path, isFolder: true))
            {
                return [];
            }

            return [.. Directory.EnumerateFileSystemEntries(path).Order(StringComparer.Ordinal).Where(file => IsSafe(file, isFolder: false))];
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            LogOnce(path, $"cannot be read: {e.Message}");
            return [];
        }
    }

    /// <summary>Parses the path of the folder.</summary>
    /// <exception cref="FormatException">It is not absolute.</exception>
    public static string Parse(string text) => Path.IsPathFullyQualified(text)
        ? Path.TrimEndingDirectorySeparator(Path.GetFullPath(text)) : throw new FormatException($"'{text}' is no absolute path.");

    /// <summary>Parses the longest time of a hook: seconds from 1 to 3600.</summary>
    /// <exception cref="FormatException">It is not that; the message says what is expected.</exception>
    public static TimeSpan ParseLimit(string text) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int seconds) && seconds is >= 1 and <= LongestLimitSeconds
            ? TimeSpan.FromSeconds(seconds)
            : throw new FormatException($"'{text}' is not a number of seconds from 1 to {LongestLimitSeconds}. An example is 30.");

    private bool IsSafe(string file, bool isFolder)
    {
        string problem = Libc.StatusOfPath(file, follow: isFolder, out FileStatus status) != 0 ? "cannot be examined" : ProblemOf(status, isFolder);
        if (problem.Length == 0)
        {
            _logged.Remove(file);
            return true;
        }

        LogOnce(file, problem);
        return false;
    }

    private static string ProblemOf(in FileStatus status, bool isFolder)
    {
        uint user = Libc.EffectiveUser();
        return isFolder ? (status.IsFolder ? ProblemOfOwner(status, user) : "is not a directory")
            : !status.IsRegularFile ? "is not a regular file"
            : (status.Mode & Executable) == 0 ? "is not executable; 'chmod u+x' makes it so"
            : ProblemOfOwner(status, user);
    }

    private static string ProblemOfOwner(in FileStatus status, uint user) =>
        status.UserId != Root && status.UserId != user ? $"belongs to user {status.UserId}, not to root or user {user}"
        : (status.Mode & WritableByOthers) != 0 ? "may be written to by other users; 'chmod go-w' ends that"
        : "";

    private void LogOnce(string file, string problem)
    {
        if (_logged.GetValueOrDefault(file) != problem)
        {
            _logged[file] = problem;
            HostLog.Write($"hook {ObjectHealth.OneLine(file)} is not run: it {problem}.");
        }
    }
}
