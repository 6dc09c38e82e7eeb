using System.Globalization;

namespace TierSpaces.PowerCuts;

/// <summary>
/// The folder through which a machine and its runner talk, outside of what loses power: progress and flushes that were acknowledged (from the machine, each
/// durable before the machine goes on), and what each virtual disk held when it was last read as a whole.
/// </summary>
internal sealed class RunFolder(string path)
{
    private const string Violation = "violation: ";

    internal string Path { get; } = path;

    internal string this[string name] => System.IO.Path.Combine(Path, name);

    /// <summary>Lines that the machine has written.</summary>
    internal string[] Progress()
    {
        try
        {
            using FileStream file = new(this["progress"], FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
            using StreamReader reader = new(file);
            return reader.ReadToEnd().Split('\n', StringSplitOptions.RemoveEmptyEntries);
        }
        catch (FileNotFoundException)
        {
            return [];
        }
    }

    /// <summary>The error, as far as the machine has reported it.</summary>
    internal string? FirstViolation() =>
        Progress().FirstOrDefault(static line => line.StartsWith(Violation, StringComparison.Ordinal))?[Violation.Length..];

    /// <summary>Adds a line, with the seconds since the machine was started.</summary>
    internal void Say(string line)
    {
        line = $"{line} at {File.ReadAllText("/proc/uptime").Split(' ')[0]} s";
        lock (this)
        {
            using FileStream file = new(this["progress"], FileMode.Append, FileAccess.Write, FileShare.ReadWrite);
            file.Write(System.Text.Encoding.UTF8.GetBytes(line.ReplaceLineEndings(" | ") + "\n"));
            file.Flush(flushToDisk: true);
        }
    }

    internal void SayViolation(string text) => Say(Violation + text);

    /// <summary>Number of the start after whose verification the newest record of contents was made; -1: none.</summary>
    internal int NewestBase() => Directory.GetDirectories(Path, "base-*")
        .Select(static folder => System.IO.Path.GetFileName(folder)["base-".Length..])
        .Select(static text => int.TryParse(text, CultureInfo.InvariantCulture, out int number) ? number : -1)
        .Append(-1).Max();

    /// <summary>Folder of the contents as they were when a start had verified them.</summary>
    internal string Base(int boot) => this[$"base-{boot}"];

    /// <summary>The file with the numbers of acknowledged flushes of the load of a start.</summary>
    internal string Report(int boot) => this[$"report-{boot}"];
}
