using System.Diagnostics;
using System.Globalization;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>From no host to a usable export, by a user without privileges.</summary>
public class FirstUseTests
{
    private const string UnprivilegedUser = "65534";

    [Fact]
    public void A_plain_user_has_a_usable_export_in_seconds()
    {
        using Home home = new();
        string[] prefix = Unprivileged(home);
        string paths = string.Join(',', Enumerable.Range(1, 3).Select(i => home.PathOf($"d{i}.img")));
        Stopwatch watch = Stopwatch.StartNew();
        Run(home, prefix, "New-PhysicalDisk", "-Path", paths, "-Size", "512MB");
        Run(home, prefix, "New-StoragePool", "-FriendlyName", "p", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "d*");
        Run(home, prefix, "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", "d", "-Size", "128MB");
        string output = Run(home, prefix, "Connect-VirtualDisk", "-FriendlyName", "d", "-PassThru", "-Json");
        TimeSpan taken = watch.Elapsed;

        using JsonDocument connected = JsonDocument.Parse(output);
        string uri = connected.RootElement[0].GetProperty("NbdUri").GetString()!;
        string io = Run(prefix, Tool.Find("qemu-io"), home, "-f", "raw", "-c", "write -P 7 1M 64k", "-c", "flush", "-c", "read -P 7 1M 64k", uri);
        Assert.DoesNotContain("fail", io, StringComparison.OrdinalIgnoreCase);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"first use: from no host to a usable NbdUri in {taken.TotalSeconds:F2} s (4 commands, {(prefix.Length > 0 ? "as an unprivileged user" : "as this user")}, {Executable.Path})"));
        Run(home, prefix, "stop");
        Assert.InRange(taken.TotalSeconds, 0, 20);   // a guard for machines under load; the figure printed is the one to look at
    }

    /// <summary>Words before a command so that it runs without privileges; none for a user without them.</summary>
    private static string[] Unprivileged(Home home)
    {
        if (!Environment.IsPrivilegedProcess)
        {
            return [];
        }

        string[] prefix = [Tool.Find("setpriv"), $"--reuid={UnprivilegedUser}", $"--regid={UnprivilegedUser}", "--clear-groups", "--inh-caps=-all"];
        const UnixFileMode everybody = (UnixFileMode)0x1FF;
        File.SetUnixFileMode(home.Root, everybody);
        Assert.SkipUnless(
            Tool.TryRun("setpriv", [.. prefix[1..], Executable.Path, "--help"]).ExitCode == 0,
            $"another user may not run {Executable.Path}: put the source tree where everybody may read it");
        return prefix;
    }

    private static string Run(Home home, string[] prefix, params string[] words) => Run(prefix, Executable.Path, home, words);

    private static string Run(string[] prefix, string file, Home home, params string[] words)
    {
        string[] line = [.. prefix, file, .. words];
        ProcessStartInfo start = new(line[0], line[1..]);
        start.Environment["TIERSPACES_HOME"] = home.Folder;
        using Process process = Tool.Start(start);
        Answer answer = Tool.End(process);
        Assert.True(answer.ExitCode == 0, $"{string.Join(' ', line)}: exit code {answer.ExitCode}\n{answer.Text}\n{home.Log()}");
        return answer.Output;
    }
}
