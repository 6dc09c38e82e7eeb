using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using System.Text;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Native;
using TierSpaces.Host.Supervision;

namespace TierSpaces.Host.Tests.Supervision;

/// <summary>
/// A host under systemd, with a socket of the test in the place of systemd's: it stores the connection of its device, and the next host is given it.
/// </summary>
public sealed class ServiceDescriptorsTests : IDisposable
{
    private const int SetFlags = 2;   // F_SETFD
    private readonly Scratch _scratch = new();
    private readonly Socket _manager = new(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
    private readonly Dictionary<string, int> _stored = [];

    public ServiceDescriptorsTests()
    {
        _scratch.Variables["NOTIFY_SOCKET"] = Path.Combine(_scratch.Root, "notify");
        _scratch.Variables[ServiceDescriptors.Variable] = "1";
        _manager.Bind(new UnixDomainSocketEndPoint(_scratch.Variables["NOTIFY_SOCKET"]));
        _manager.ReceiveTimeout = 100;
    }

    public void Dispose()
    {
        _scratch.Dispose();
        _manager.Dispose();
        Array.ForEach([.. _stored.Values], static descriptor => _ = Libc.Close(descriptor));
    }

    [Fact]
    public void The_next_host_takes_the_device_over_from_the_store()
    {
        Assert.SkipUnless(Environment.IsPrivilegedProcess && BlockDevice.CanOpen("/dev/fuse") && Tool.Find("losetup") is not null, "needs root and FUSE");
        Process host = Serve();
        try
        {
            _scratch.Succeed("New-PhysicalDisk", "-Path", $"{_scratch.Root}/1.img,{_scratch.Root}/2.img", "-Size", "256MB");
            _scratch.Succeed("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "1,2");
            _scratch.Succeed("New-VirtualDisk", "p", "-FriendlyName", "v", "-Size", "32MB");
            _scratch.Succeed("Connect-VirtualDisk", "v");
            string method = _scratch.One("Get-VirtualDisk", "v").GetProperty("AttachMethod").GetString()!;
            Assert.SkipUnless(method == "Fuse", $"this kernel has another way: {method}");
            string device = DeviceOf("v");
            Receive();
            Assert.Single(_stored);

            host.Kill();
            host.WaitForExit();
            using Process write = Process.Start("dd", ["if=/dev/zero", $"of={device}", "bs=64k", "count=2", "oflag=direct", "status=none"]);
            Assert.False(write.WaitForExit(500));   // it waits
            host = Serve();
            Assert.True(write.WaitForExit(TimeSpan.FromSeconds(30)));
            Assert.Equal(0, write.ExitCode);
            Assert.Equal(device, DeviceOf("v"));
            Receive();
            Assert.Single(_stored);

            _scratch.Succeed("Disconnect-VirtualDisk", "v");
            Receive();
            Assert.Empty(_stored);
        }
        finally
        {
            _scratch.Run("stop", "-Force");
            host.Kill();
            host.WaitForExit();
        }
    }

    private string DeviceOf(string name) =>
        new FileInfo(_scratch.One("Get-VirtualDisk", name).GetProperty("DevicePath").GetString()!).ResolveLinkTarget(returnFinalTarget: true)!.FullName;

    /// <summary>Starts a host as systemd does: what is stored is passed from descriptor 3 on.</summary>
    private Process Serve()
    {
        _scratch.Variables["LISTEN_FDS"] = _stored.Count.ToString(CultureInfo.InvariantCulture);
        _scratch.Variables["LISTEN_FDNAMES"] = string.Join(':', _stored.Keys);
        int[] descriptors = [.. _stored.Values];
        Array.ForEach(descriptors, static descriptor => _ = Libc.FileControl(descriptor, SetFlags, 0));
        string passed = string.Concat(descriptors.Select(static (descriptor, i) => $" {3 + i}<&{descriptor}"));
        Process host = _scratch.StartAs("bash", ["-c", $"export LISTEN_PID=$$; exec \"$0\" serve --supervisor Systemd{passed}", Scratch.Executable]);
        Assert.Contains("is ready", host.StandardOutput.ReadLine());
        Array.ForEach(descriptors, static descriptor => _ = Libc.FileControl(descriptor, SetFlags, 1));
        return host;
    }

    /// <summary>Does what systemd does with the messages that have come.</summary>
    private void Receive()
    {
        byte[] text = new byte[DescriptorMessages.TextMax];
        while (_manager.Poll(100_000, SelectMode.SelectRead))
        {
            int length = DescriptorMessages.Receive((int)_manager.Handle, text, out int descriptor);
            string[] lines = Encoding.UTF8.GetString(text, 0, length).Split('\n');
            string? name = lines.FirstOrDefault(static line => line.StartsWith("FDNAME=", StringComparison.Ordinal))?["FDNAME=".Length..];
            if (lines.Contains("FDSTORE=1"))
            {
                Assert.Contains("FDPOLL=0", lines);
                _stored[name!] = descriptor;
            }
            else if (lines.Contains("FDSTOREREMOVE=1") && _stored.Remove(name!, out int removed))
            {
                _ = Libc.Close(removed);
            }
        }
    }
}
