using System.Diagnostics;
using System.Globalization;

namespace TierSpaces.Acceptance;

/// <summary>
/// Processes that do not see those outside, nor are asked after by them: what runs here finds an image that others have open only by what is on it, as
/// another machine would. The devices and files are the same.
/// </summary>
internal sealed class OtherProcesses : IDisposable
{
    private readonly Process _first;

    internal OtherProcesses()
    {
        // A shell, which ends processes whose parents are gone: a host that was killed would stay as a process that has ended.
        _first = Tool.Start("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c", "sleep infinity & wait");
        string children = $"/proc/{_first.Id}/task/{_first.Id}/children";
        string inside = "";
        for (Stopwatch watch = Stopwatch.StartNew(); inside.Length == 0 && watch.Elapsed < TimeSpan.FromSeconds(5); Thread.Sleep(20))
        {
            inside = File.ReadAllText(children).Trim();
        }

        // The child mounts its /proc before it becomes the shell.
        for (Stopwatch watch = Stopwatch.StartNew(); watch.Elapsed < TimeSpan.FromSeconds(5); Thread.Sleep(20))
        {
            if (File.ReadAllText($"/proc/{inside}/comm").Trim() == "bash")
            {
                break;
            }
        }

        int number = int.Parse(inside, CultureInfo.InvariantCulture);
        Prefix = [Tool.Find("nsenter"), "--target", $"{number}", "--pid", "--mount", "--"];
    }

    /// <summary>Starts a command there.</summary>
    internal string[] Prefix { get; }

    public void Dispose()
    {
        Home.Kill(_first.Id);
        _first.Dispose();
    }
}
