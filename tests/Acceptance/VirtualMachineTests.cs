using System.Collections.Concurrent;
using System.Diagnostics;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace TierSpaces.Acceptance;

/// <summary>The lines of docs/virtual-machines.md, run as they are there.</summary>
public sealed partial class VirtualMachineTests : IDisposable
{
    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";
    private readonly Home _home = new();

    public void Dispose() => _home.Dispose();

    /// <summary>QEMU's block layer with the words of the page: what it writes and reads under kills of the host is a pause and no error.</summary>
    [Fact]
    public void A_guest_sees_a_pause_and_no_error_while_the_host_is_killed_and_upgraded()
    {
        string program = Tool.Find("qemu-io");
        _home.NewPool();
        _home.Run("New-VirtualDisk", "p", "-FriendlyName", "guest1", "-Size", "64MB", "-ResiliencySettingName", "Mirror", "-IsManualAttach", "true");
        _home.Run("Connect-VirtualDisk", "guest1", "-AttachMethod", "NbdUri");
        Match uri = Uri().Match(_home.UriOf("guest1"));
        string words = BlockDevice().Match(Page()).Groups[1].Value
            .Replace("SOCKET", System.Uri.UnescapeDataString(uri.Groups[1].Value), StringComparison.Ordinal)
            .Replace(",discard=unmap", "", StringComparison.Ordinal);   // qemu-io has an option of its own for that
        using Process guest = Process.Start(new ProcessStartInfo("stdbuf", ["-oL", program, "--image-opts", words])
        {
            RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true,
        })!;
        ConcurrentQueue<string> lines = [];
        guest.OutputDataReceived += (_, line) => lines.Enqueue(line.Data ?? "");
        guest.ErrorDataReceived += (_, line) => lines.Enqueue(line.Data ?? "");
        guest.BeginOutputReadLine();
        guest.BeginErrorReadLine();
        int done = 0;
        void Send(string command)
        {
            done++;
            guest.StandardInput.WriteLine(command);   // one at a time: qemu-io takes the next line when it gets more input
        }

        bool IsDone() => lines.Count(static line => line.Contains(" 262144/262144 bytes", StringComparison.Ordinal)) == done;
        void Await() => _home.Eventually("the guest has gone on", IsDone, 5);
        int rounds = s_isLong ? 40 : 4;
        for (int round = 1; round <= rounds; round++)
        {
            for (int i = 0; i < 8; i++)
            {
                Send($"write -P {round} {i * 256}k 256k");
                if (i == 4 && round % 2 == 1)
                {
                    _home.KillHost(_home.Host);
                }

                Await();
                Send($"read -P {round} {i * 256}k 256k");
                Await();
            }

            if (round % 2 == 0)
            {
                Answer refused = _home.Try("stop");
                Assert.Contains($"Virtual disk 'guest1': NBD clients: process {guest.Id} (qemu-io)", refused.Text, StringComparison.Ordinal);
                _home.Run("stop", "-KeepAttached");
                Send($"read -P {round} 0 256k");
                _home.Run("start");
                Await();
            }
        }

        guest.StandardInput.WriteLine("quit");
        Assert.True(guest.WaitForExit(TimeSpan.FromMinutes(1)));
        guest.WaitForExit();   // for the last lines
        Assert.DoesNotContain(lines, static line => line.Contains("fail", StringComparison.OrdinalIgnoreCase));
        Assert.DoesNotContain(lines, static line => line.Contains("error", StringComparison.OrdinalIgnoreCase));
    }

    /// <summary>The element for libvirt says the same as the words for QEMU.</summary>
    [Fact]
    public void The_element_for_libvirt_says_the_same()
    {
        XElement disk = XElement.Parse(XmlBlock().Match(Page()).Groups[1].Value);
        string words = BlockDevice().Match(Page()).Groups[1].Value;
        XElement source = disk.Element("source")!;
        Assert.Contains($"export={source.Attribute("name")!.Value},", words, StringComparison.Ordinal);
        Assert.Contains($"server.path={source.Element("host")!.Attribute("socket")!.Value},", words, StringComparison.Ordinal);
        Assert.Contains($"reconnect-delay={source.Element("reconnect")!.Attribute("delay")!.Value},", words, StringComparison.Ordinal);
        Assert.Contains($",logical_block_size={disk.Element("blockio")!.Attribute("logical_block_size")!.Value},", Page(), StringComparison.Ordinal);
    }

    private static string Page() => File.ReadAllText(System.IO.Path.Combine(Executable.Repository, "docs", "virtual-machines.md"));

    [GeneratedRegex(@"-blockdev (driver=nbd\S+)")]
    private static partial Regex BlockDevice();

    [GeneratedRegex(@"[?&]socket=([^&]+)")]
    private static partial Regex Uri();

    [GeneratedRegex("```xml\n(.*?)```", RegexOptions.Singleline)]
    private static partial Regex XmlBlock();
}
