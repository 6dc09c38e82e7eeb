using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Text.RegularExpressions;

namespace TierSpaces.Acceptance;

/// <summary>The lines of docs/iscsi.md, in the long run where tgt and QEMU's iSCSI driver are installed: two initiators, and a host that is killed.</summary>
public sealed partial class IscsiTests : IDisposable
{
    private const string Target = "iqn.2026-01.lan.storage:lun1";
    private readonly Home _home = new();
    private readonly string _port = FreePort();
    private readonly string _control = $"{Environment.ProcessId % 30000}";
    private Process? _target;

    public void Dispose()
    {
        if (_target is not null)
        {
            Tool.TryRun("tgtadm", "-C", _control, "--op", "delete", "--mode", "system");
            _target.Kill();
            _target.Dispose();
        }

        _home.Dispose();
    }

    [Fact]
    public void Two_initiators_see_each_others_writes_and_a_pause_when_the_host_is_killed()
    {
        Assert.SkipUnless(Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1", "in the long run");
        Assert.SkipUnless(
            File.Exists("/usr/sbin/tgtd") && Directory.Exists("/usr/lib/x86_64-linux-gnu/qemu"), "not installed: sudo apt-get install -y tgt qemu-block-extra");
        Tool.NeedDevices();
        _home.NewPool();
        _home.NewMirror("lun1", "64MB");
        StartTarget();
        foreach (Match line in Commands().Matches(File.ReadAllText(Path.Combine(Executable.Repository, "docs", "iscsi.md"))))
        {
            string words = line.Groups[1].Value.Replace("/dev/tierspaces/lun1", _home.DeviceOf("lun1"), StringComparison.Ordinal);
            Tool.Run("tgtadm", ["-C", _control, .. words.Split(' ', StringSplitOptions.RemoveEmptyEntries)]);
        }

        for (int round = 1; round <= 6; round++)
        {
            Initiate($"write -P {round} 0 8M", "flush");
            Initiate($"read -P {round} 0 8M");
            using Process write = Tool.Start("qemu-io", ["-f", "raw", "-c", $"write -P {round + 50} 8M 32M", "-c", "flush", Uri]);
            _home.KillHost(_home.Host);
            Answer written = Tool.End(write);
            Assert.True(written.ExitCode == 0, written.Text);
            Initiate($"read -P {round + 50} 8M 32M", $"read -P {round} 0 8M");
        }

        Answer refused = _home.Try("stop");
        Assert.NotEqual(0, refused.ExitCode);
        Assert.Contains("(tgtd)", refused.Text, StringComparison.Ordinal);
    }

    private string Uri => $"iscsi://127.0.0.1:{_port}/{Target}/1";

    private void Initiate(params string[] commands)
    {
        Answer answer = Tool.TryRun("qemu-io", ["-f", "raw", .. commands.SelectMany(static command => (string[])["-c", command]), Uri]);
        Assert.True(answer.ExitCode == 0 && !answer.Text.Contains("fail", StringComparison.OrdinalIgnoreCase), answer.Text);
    }

    private void StartTarget()
    {
        _target = Tool.Start("tgtd", "-f", "-C", _control, "--iscsi", $"portal=127.0.0.1:{_port}");
        _home.Eventually("the target answers", () => Tool.TryRun("tgtadm", "-C", _control, "--op", "show", "--mode", "target").ExitCode == 0);
    }

    private static string FreePort()
    {
        using TcpListener listener = new(IPAddress.Loopback, 0);
        listener.Start();
        return $"{((IPEndPoint)listener.LocalEndpoint).Port}";
    }

    [GeneratedRegex("^tgtadm (.*)$", RegexOptions.Multiline)]
    private static partial Regex Commands();
}
