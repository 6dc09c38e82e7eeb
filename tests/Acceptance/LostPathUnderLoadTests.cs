using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>
/// The only disk of a pool has two paths: two loop devices over one image. One of them is lost while fio writes and verifies, is back later, and then the other
/// one is lost. No request of the client fails, and no other process gets at a path.
/// </summary>
public sealed partial class LostPathUnderLoadTests : IDisposable
{
    private const int StatusBytes = 232;   // struct loop_info64
    private const int OffsetOfLimit = 32;
    private const nuint SetStatus = 0x4c04;
    private const nuint GetStatus = 0x4c05;

    private readonly List<string> _loops = [];

    public void Dispose()
    {
        foreach (string loop in _loops)
        {
            Tool.TryRun("losetup", ["--detach", loop]);
        }
    }

    [Fact]
    public void A_disk_with_two_paths_serves_by_the_one_that_is_left()
    {
        Tool.Find("fio");
        Assert.SkipUnless(Environment.IsPrivilegedProcess && File.Exists("/dev/loop-control"), "Loop devices need root and /dev/loop-control.");
        using Home home = new();
        string image = home.PathOf("shared.img");
        Tool.Run("truncate", "-s", "1G", image);
        _loops.AddRange([Attach(image), Attach(image)]);
        home.Run("Register-PhysicalDisk", "-Path", _loops[0], "-FriendlyName", "d", "-MediaType", "SSD");
        home.Run("Register-PhysicalDisk", "-Path", _loops[1]);
        home.Run("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "d");
        home.Run("New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", "v", "-ResiliencySettingName", "Simple", "-Size", "256MB");
        home.Run("Connect-VirtualDisk", "v");
        RequireWorking(home, _loops[0], _loops[1]);
        Assert.NotEqual(0, Tool.TryRun("flock", ["--nonblock", _loops[1], "true"]).ExitCode);   // a second host

        using (Process load = Fio.StartOnExport(home.UriOf("v"), 14, home.Root, home.PathOf("latency")))
        {
            Thread.Sleep(2000);
            long[] before = [.. _loops.Select(Writes)];
            Thread.Sleep(1000);
            long[] written = [.. _loops.Select((loop, number) => Writes(loop) - before[number])];
            Assert.All(written, writes => Assert.InRange(writes, 50, long.MaxValue));
            SetLimit(_loops[0], 4096);
            RequireWorking(home, _loops[1]);
            SetLimit(_loops[0], 0);
            RequireWorking(home, _loops[0], _loops[1]);
            SetLimit(_loops[1], 4096);
            RequireWorking(home, _loops[0]);
            Assert.InRange(Fio.Check(Tool.End(load), 1), 500, long.MaxValue);
        }

        JsonElement disk = Assert.Single(home.Objects("Get-PhysicalDisk"));
        Assert.Equal("Healthy", disk.GetProperty("HealthStatus").GetString());
        Assert.Equal("Healthy", Assert.Single(home.Objects("Get-VirtualDisk")).GetProperty("HealthStatus").GetString());
        SetLimit(_loops[1], 0);
        RequireWorking(home, _loops[0], _loops[1]);
        home.Run("Unregister-PhysicalDisk", "-Path", _loops[0]);
        RequireWorking(home, _loops[1]);
        home.Run("stop");
        home.Run("start");
        RequireWorking(home, _loops[1]);
    }

    [Fact]
    public void A_loop_device_and_a_second_name_of_a_registered_image_are_paths_to_it()
    {
        Assert.SkipUnless(Environment.IsPrivilegedProcess && File.Exists("/dev/loop-control"), "Loop devices need root and /dev/loop-control.");
        using Home home = new();
        string image = home.PathOf("d.img"), link = home.PathOf("link.img");
        home.Run("New-PhysicalDisk", "-Path", image, "-Size", "1GB", "-MediaType", "SSD");
        home.Run("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "d");
        Tool.Run("ln", image, link);
        _loops.Add(Attach(image));
        home.Run("Register-PhysicalDisk", "-Path", $"{link},{_loops[0]}");
        RequireWorking(home, image, link, _loops[0]);
        File.Delete(image);
        home.Run("stop");
        home.Run("start");
        RequireWorking(home, link, _loops[0]);
        Assert.Equal("Healthy", home.Objects("Get-StoragePool", "p")[0].GetProperty("HealthStatus").GetString());
    }

    private static string Attach(string image)
    {
        Answer answer = Tool.TryRun("losetup", ["--find", "--show", image]);
        Assert.SkipUnless(answer.ExitCode == 0, $"Cannot attach a loop device: {answer.Text}");
        return answer.Output.Trim();
    }

    private static void RequireWorking(Home home, params string[] paths) => home.Eventually($"the disk works by {string.Join(" and ", paths)}", () =>
        home.Objects("Get-PhysicalDisk") is [var disk]
        && disk.GetProperty("WorkingPaths").EnumerateArray().Select(static path => path.GetString()!).ToHashSet().SetEquals(paths));

    /// <summary>Writes that a device has completed.</summary>
    private static long Writes(string device) =>
        long.Parse(File.ReadAllText($"/sys/block/{Path.GetFileName(device)}/stat").Split(' ', StringSplitOptions.RemoveEmptyEntries)[4],
            System.Globalization.CultureInfo.InvariantCulture);

    /// <summary>Lets a loop device show so many bytes of its image only, 0: all. Requests beyond them fail, and the device is smaller than it was.</summary>
    private static void SetLimit(string device, ulong bytes)
    {
        byte[] status = new byte[StatusBytes];
        int descriptor = Open(device, 0);   // a FileStream would want the lock
        Assert.Equal(0, Control(descriptor, GetStatus, status));
        BinaryPrimitives.WriteUInt64LittleEndian(status.AsSpan(OffsetOfLimit), bytes);
        Assert.Equal(0, Control(descriptor, SetStatus, status));
        Assert.Equal(0, Close(descriptor));
    }

    [LibraryImport("libc", EntryPoint = "open", StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Open(string path, int flags);

    [LibraryImport("libc", EntryPoint = "close")]
    private static partial int Close(int descriptor);

    [LibraryImport("libc", EntryPoint = "ioctl")]
    private static partial int Control(int descriptor, nuint request, [In, Out] byte[] status);
}
