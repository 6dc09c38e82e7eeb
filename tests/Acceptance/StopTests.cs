using System.Diagnostics;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>
/// A host that is stopped while virtual disks are in use: refused and every user named; with -KeepAttached the users wait for the next host; with -Force they
/// lose their disks and nothing is left.
/// </summary>
public sealed class StopTests : IDisposable
{
    private const string OtherWay = "The short run takes this way for a forced stop alone.";
    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";
    private readonly Home _home = new();

    public StopTests()
    {
        Tool.NeedDevices();
    }

    public void Dispose() => _home.Dispose();

    [Fact]
    public void A_disk_with_clients_is_not_removed_and_disconnecting_it_names_them()
    {
        _home.NewPool("1GB");
        NewDisk("Served", "NbdUri");
        string us = $"process {Environment.ProcessId} (";
        using (NbdClient client = new NbdClient(_home.UriOf("Served")))
        {
            Answer refused = _home.Try("Remove-VirtualDisk", "Served", "-Confirm:$false");
            Assert.NotEqual(0, refused.ExitCode);
            Assert.Contains("StorageWMI 6", refused.Text, StringComparison.Ordinal);
            Assert.Contains($"Virtual disk 'Served' has NBD clients: {us}", refused.Text, StringComparison.Ordinal);
            Assert.Contains("Disconnect-VirtualDisk 'Served'", refused.Text, StringComparison.Ordinal);
            client.Send(1, NbdClient.Write, 0, 0, 4096, new byte[4096]);
            Assert.Equal((1UL, 0U), client.NextAnswer());   // nothing was changed

            Answer disconnected = _home.Try("Disconnect-VirtualDisk", "Served");
            Assert.Equal(0, disconnected.ExitCode);
            Assert.Contains($"Virtual disk 'Served': NBD clients lost the connection: {us}", disconnected.Text, StringComparison.Ordinal);
        }

        _home.Run("Connect-VirtualDisk", "-FriendlyName", "Served", "-AttachMethod", "NbdUri");
        new NbdClient(_home.UriOf("Served")).Dispose();
        _home.Run("Remove-VirtualDisk", "-FriendlyName", "Served", "-Confirm:$false");   // a client that has gone is not in the way
    }

    [Theory]
    [InlineData("Fuse")]
    [InlineData("NbdFuse")]
    public void A_stop_names_every_disk_in_use_and_is_refused(string method)
    {
        Assert.SkipUnless(s_isLong || method == "Fuse", OtherWay);
        _home.NewPool("1GB");
        string device = NewDisk("Mounted", method);
        Tool.Run("mkfs.ext4", "-q", device);
        string mount = _home.Mount(device);
        string opened = NewDisk("Opened", method);
        NewDisk("Idle", method);
        NewDisk("Served", "NbdUri");
        using Process program = Tool.Start("sh", "-c", $"exec 3<{opened}; echo open; exec sleep 60");
        Assert.Equal("open", program.StandardOutput.ReadLine());
        using NbdClient client = new NbdClient(_home.UriOf("Served"));
        int host = _home.Host;

        Answer refused = _home.Try("stop");
        Assert.NotEqual(0, refused.ExitCode);
        Assert.Contains($"Virtual disk 'Mounted': {device} is mounted on {mount}.", refused.Text, StringComparison.Ordinal);
        Assert.Contains($"Virtual disk 'Opened': {opened} is opened by process {program.Id} (sleep).", refused.Text, StringComparison.Ordinal);
        Assert.Contains($"Virtual disk 'Served': NBD clients: process {Environment.ProcessId} (", refused.Text, StringComparison.Ordinal);
        Assert.DoesNotContain("Idle", refused.Text, StringComparison.Ordinal);
        Assert.Contains("-KeepAttached", refused.Text, StringComparison.Ordinal);
        Assert.Equal(host, _home.Host);
        Tool.Run("dd", "if=/dev/zero", $"of={mount}/x", "bs=64k", "count=4", "conv=fsync", "status=none");   // nothing was changed

        program.Kill();
        program.WaitForExit();
        client.Dispose();
        _home.Unmount(mount);
        string idle = DeviceOf("Idle");
        _home.Eventually("the host stops", () => _home.Try("stop").ExitCode == 0);
        AssertNothingIsLeft();
        _home.Run("start");
        _home.Eventually("what was connected is attached again", () => new[] { "Mounted", "Opened", "Idle" }.All(HasDevice));
        Assert.StartsWith("/dev/", DeviceOf("Idle"), StringComparison.Ordinal);
        Assert.StartsWith("/dev/", idle, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Fuse", "without a limit of time")]
    [InlineData("NbdFuse", "for 60 s")]
    public void Kept_devices_wait_for_the_next_host(string method, string patience)
    {
        Assert.SkipUnless(s_isLong || method == "Fuse", OtherWay);
        _home.NewPool("1GB");
        string device = NewDisk("Data", method);
        Tool.Run("mkfs.ext4", "-q", device);
        string mount = _home.Mount(device);
        Dictionary<string, string> sums = TestFiles.Write(mount, 6, 10);

        Answer stopped = _home.Try("stop", "-KeepAttached");
        Assert.Equal(0, stopped.ExitCode);
        Assert.Contains($"Virtual disk 'Data' keeps {device}: its requests wait {patience} for the next host.", stopped.Text, StringComparison.Ordinal);
        using Process write = Tool.Start("dd", "if=/dev/urandom", $"of={mount}/new", "bs=1M", "count=8", "oflag=direct", "status=none");
        Assert.False(write.WaitForExit(1500));   // it waits
        _home.Run("start");
        Assert.Equal(0, Tool.End(write).ExitCode);
        TestFiles.Check(mount, sums);
        Assert.Equal(device, DeviceOf("Data"));
        _home.Unmount(mount);
        FileSystem.Check("ext4", device);
    }

    [Theory]
    [InlineData("Fuse")]
    [InlineData("NbdFuse")]
    public void A_forced_stop_keeps_what_was_written_and_leaves_nothing(string method)
    {
        _home.NewPool("1GB");
        string device = NewDisk("Data", method);
        Tool.Run("mkfs.ext4", "-q", device);
        string mount = _home.Mount(device);
        Dictionary<string, string> sums = TestFiles.Write(mount, 6, 10);
        File.WriteAllText(Path.Combine(mount, "unflushed"), "written, never flushed");
        using Process user = Tool.Start("sh", "-c", $"cd {mount}; exec 3>held; echo open; while echo more >&3; do sleep 0.1; done; exit 0");
        Assert.Equal("open", user.StandardOutput.ReadLine());

        Answer stopped = _home.Try("stop", "--force");
        Assert.True(stopped.ExitCode == 0, stopped.Text);
        Assert.Contains($"{mount} was in use", stopped.Text, StringComparison.Ordinal);
        user.Kill();
        user.WaitForExit();
        _home.Eventually("nothing is left", NothingIsLeft);
        AssertNothingIsLeft();
        _home.Run("start");
        _home.Eventually("the disk is attached again", () => HasDevice("Data"));
        Tool.Run("mount", DeviceOf("Data"), mount);
        TestFiles.Check(mount, sums);
        Assert.Equal("written, never flushed", File.ReadAllText(Path.Combine(mount, "unflushed")));
        _home.Unmount(mount);
        FileSystem.Check("ext4", DeviceOf("Data"));
    }

    /// <summary>
    /// A program that reads from a device while the pool is closed and is killed then keeps the kernel from opening the device until the read is answered.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Devices_whose_pool_is_closed_end_with_the_host(bool isRead)
    {
        Assert.SkipUnless(s_isLong || isRead, OtherWay);
        _home.Run(
            "New-PhysicalDisk", "-Path", $"{_home.PathOf("e1.img")},{_home.PathOf("e2.img")}", "-Size", "256MB",
            "-LatencyProfile", "NVMe", "-MediaType", "SSD");
        _home.Run("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "e*");
        string device = NewDisk("Data", "Fuse");
        Tool.Run("dd", "if=/dev/urandom", $"of={device}", "bs=1M", "count=4", "oflag=direct", "status=none");
        _home.Run("Set-EmulatedDiskFault", "e*", "-Pull");
        _home.Eventually("the pool is closed", () => _home.Log().Contains("Critical: virtual disk 'Data' of storage pool 'p' is Unhealthy (Detached)"));
        using Process reader = Tool.Start("dd", $"if={device}", "of=/dev/null", "bs=64k", "count=1", "skip=32", "status=none");   // in no cache
        if (isRead)
        {
            _home.Eventually("it waits", () => State(reader.Id) == 'D');
            reader.Kill();
            Thread.Sleep(200);
            Assert.Equal('D', State(reader.Id));
        }
        else
        {
            reader.Kill();
            reader.WaitForExit();
        }

        using Process stop = Tool.Start(_home.CommandLine(isRead ? ["stop", "-Force"] : ["stop"]));
        Assert.True(stop.WaitForExit(TimeSpan.FromSeconds(30)), $"The stop does not end.\n{_home.Log()}");
        Assert.Equal(0, stop.ExitCode);
        Assert.True(reader.WaitForExit(TimeSpan.FromSeconds(10)));
        _home.Eventually("nothing is left", NothingIsLeft);
        AssertNothingIsLeft();

        static char State(int process) => File.ReadAllText($"/proc/{process}/stat").Split(')')[^1].TrimStart()[0];
    }

    /// <summary>A device that the system does not give up keeps no other one, and not the host, from its end.</summary>
    [Fact]
    public void A_forced_stop_goes_on_past_a_device_that_cannot_be_removed()
    {
        string tools = Directory.CreateDirectory(_home.PathOf("bin")).FullName, losetup = Path.Combine(tools, "losetup"), keep = _home.PathOf("keep");
        File.WriteAllText(losetup, $"#!/bin/sh\n[ \"$1\" != --detach ] || ! grep -qsxF \"$2\" {keep} || exit 3\nexec {Tool.Find("losetup")} \"$@\"\n");
        File.SetUnixFileMode(losetup, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        _home.Variables["PATH"] = $"{tools}:{Environment.GetEnvironmentVariable("PATH")}";
        _home.NewPool();
        string kept = NewDisk("Kept", "Fuse");
        NewDisk("Other", "Fuse");
        File.WriteAllText(keep, kept);
        Answer stopped = _home.Try("stop", "-Force");
        Assert.True(stopped.ExitCode == 0, stopped.Text);
        Assert.Contains($"{kept} is not removed: losetup", stopped.Text, StringComparison.Ordinal);
        Assert.Contains("No host runs", _home.Try("status").Text, StringComparison.Ordinal);
        string[] files = Tool.Run("losetup", "--list", "--noheadings", "--output", "BACK-FILE").Split('\n');
        Assert.Single(files, file => file.Contains(_home.Root, StringComparison.Ordinal));
        File.Delete(keep);
        _home.Run("Disconnect-VirtualDisk", "Kept", "-Force");
        _home.Run("stop", "-Force");
        AssertNothingIsLeft();
    }

    [Fact]
    public void Force_and_KeepAttached_exclude_each_other()
    {
        _home.Run("start");
        Answer refused = _home.Try("stop", "-Force", "-KeepAttached");
        Assert.Equal(1, refused.ExitCode);
        Assert.Contains("-KeepAttached: cannot be used with -Force", refused.Text, StringComparison.Ordinal);
        Assert.Equal(0, _home.Try("status").ExitCode);
    }

    /// <summary>Disks that are in use, and devices that a pool has left that is gone for good.</summary>
    [Theory]
    [InlineData("Fuse")]
    [InlineData("NbdFuse")]
    public void A_forced_disconnection_frees_disks_in_use_and_devices_of_a_lost_pool(string method)
    {
        Assert.SkipUnless(s_isLong || method == "Fuse", OtherWay);
        _home.NewPool("1GB");
        string device = NewDisk("Data", method);
        Tool.Run("mkfs.ext4", "-q", device);
        string mount = _home.Mount(device);
        Assert.NotEqual(0, _home.Try("Disconnect-VirtualDisk", "Data").ExitCode);
        _home.Run("Disconnect-VirtualDisk", "Data", "-Force");
        AssertNothingIsLeft();
        Assert.Equal("Detached", _home.VirtualDisk("Data").GetProperty("OperationalStatus")[0].GetString());

        device = Attach("Data", method);
        Tool.Run("mount", device, mount);
        _home.Run("stop", "-KeepAttached");
        Array.ForEach(Directory.GetFiles(_home.Root, "d*.img"), File.Delete);
        using Process reader = Tool.Start("dd", $"if={device}", "of=/dev/null", "bs=64k", "count=1", "iflag=direct", "status=none");
        _home.Run("start");
        _home.Run("Get-VirtualDisk");
        Assert.NotEqual(0, _home.Try("Disconnect-VirtualDisk", "Other", "-Force").ExitCode);
        Assert.False(reader.WaitForExit(500));
        _home.Run("Disconnect-VirtualDisk", "Data", "-Force");
        Assert.NotEqual(0, Tool.End(reader).ExitCode);
        _home.Eventually("nothing is left", NothingIsLeft);
        AssertNothingIsLeft();
    }

    /// <summary>Creates a mirror of 64 MB, attaches it by a method and returns its device; empty for none.</summary>
    private string NewDisk(string name, string method)
    {
        _home.Run(
            "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", name, "-ResiliencySettingName", "Mirror", "-Size", "64MB",
            "-ProvisioningType", "Fixed", "-IsManualAttach", "true");
        return Attach(name, method);
    }

    private string Attach(string name, string method)
    {
        Answer attached = _home.Try("Connect-VirtualDisk", name, "-AttachMethod", method);
        Assert.SkipWhen(attached.Text.Contains("FUSE_HAS_RESEND", StringComparison.Ordinal), $"this kernel has another way: {attached.Text}");
        Assert.True(attached.ExitCode == 0, attached.Text);
        return method == "NbdUri" ? "" : DeviceOf(name);
    }

    private bool HasDevice(string name) => _home.VirtualDisk(name).GetProperty("DevicePath").ValueKind == JsonValueKind.String;

    /// <summary>The device itself, not the link to it.</summary>
    private string DeviceOf(string name) => new FileInfo(_home.DeviceOf(name)).ResolveLinkTarget(returnFinalTarget: true)!.FullName;

    private bool NothingIsLeft() => !File.ReadAllText("/proc/self/mounts").Contains(_home.Root, StringComparison.Ordinal)
        && !Tool.Run("losetup", "--list", "--noheadings", "--output", "BACK-FILE").Contains(_home.Root, StringComparison.Ordinal);

    private void AssertNothingIsLeft()
    {
        Assert.DoesNotContain(_home.Root, File.ReadAllText("/proc/self/mounts"), StringComparison.Ordinal);
        Assert.DoesNotContain(_home.Root, Tool.Run("losetup", "--list", "--noheadings", "--output", "BACK-FILE"), StringComparison.Ordinal);
        Assert.Equal(1, Tool.TryRun("pgrep", "-f", $"(nbdkit|nbdfuse) .*{_home.Root}").ExitCode);
    }
}
