using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Nodes;
using TierSpaces.Contracts;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Tests.Volumes;

/// <summary>New virtual disks are attached by themselves, and what verbs of virtual disks do to the devices and mounts of attached ones.</summary>
public sealed class AttachedDiskTests : IDisposable
{
    private readonly Scratch _scratch = new();

    private string Letter => Path.Combine(_scratch.VolumeRoot, "E");

    private string Links => Path.Combine(_scratch.Paths.Home, "dev");

    public void Dispose() => _scratch.Dispose();

    [Fact]
    public void A_new_virtual_disk_is_attached_and_comes_back_with_the_next_host()
    {
        Prepare();
        JsonElement disk = New("Data");
        Assert.Equal(("OK", "None"), (disk.GetProperty("OperationalStatus")[0].GetString(), Text(disk, "DetachedReason")));
        Assert.Equal(Path.Combine(Links, "Data"), Text(disk, "DevicePath"));
        Assert.Equal("RAW", Text(_scratch.One("Get-Disk"), "PartitionStyle"));
        Ok("Connect-VirtualDisk", "Data");
        Assert.Equal(Text(disk, "DevicePath"), Text(Get("Data"), "DevicePath"));

        Ok("stop");
        Assert.Equal(Text(disk, "DevicePath"), Text(Get("Data"), "DevicePath"));
    }

    [Theory]
    [InlineData("NbdFuse")]
    [InlineData("NbdUri")]
    public void The_way_that_was_asked_for_holds_until_the_disk_is_disconnected(string method)
    {
        Prepare();
        string first = Text(New("Data"), "AttachMethod");
        Ok("Disconnect-VirtualDisk", "Data");
        Ok("Connect-VirtualDisk", "Data", "-AttachMethod", method);
        Ok("stop");
        Assert.Equal(method, Text(Get("Data"), "AttachMethod"));
        Ok("Connect-VirtualDisk", "Data");
        Assert.Equal(method, Text(Get("Data"), "AttachMethod"));
        Ok("Disconnect-VirtualDisk", "Data");
        Ok("Connect-VirtualDisk", "Data");
        Assert.Equal(first, Text(Get("Data"), "AttachMethod"));
    }

    [Fact]
    public void Disks_are_numbered_in_the_order_in_which_they_were_created()
    {
        Prepare();
        string[] names = ["C", "A", "D", "B"];
        Array.ForEach(names, name => New(name, "-ProvisioningType", "Thin"));
        Assert.Equal(names, All("Get-Disk").Select(disk => Text(disk, "FriendlyName")));
    }

    [Theory]
    [InlineData("yes", true)]
    [InlineData("no", false)]
    public void A_virtual_disk_stays_detached_that_is_to_be_attached_by_hand_or_where_the_setting_says_so(string setting, bool isManual)
    {
        Prepare(setting);
        JsonElement disk = New("Data", "-IsManualAttach", isManual ? "true" : "false");
        Assert.Equal(("Detached", "By Policy"), (disk.GetProperty("OperationalStatus")[0].GetString(), Text(disk, "DetachedReason")));
        Assert.Equal("[]", _scratch.Run("Get-Disk", "-Json").Output.Trim());
    }

    [Fact]
    public void Where_no_device_can_be_made_it_is_served_and_a_warning_says_why()
    {
        _scratch.Variables["PATH"] = "/nonexistent";
        Prepare();
        Scratch.Answer answer = _scratch.Run("New-VirtualDisk", "p", "-FriendlyName", "Data", "-Size", "100MB", "-Json");
        Assert.Equal(0, answer.ExitCode);
        Assert.Contains("No block device: ", answer.Error);
        Assert.Contains("Virtual disk 'Data' is served at nbd+unix:///Data?socket=", answer.Error);
        Assert.Equal("OK", JsonDocument.Parse(answer.Output).RootElement[0].GetProperty("OperationalStatus")[0].GetString());
    }

    [Fact]
    public void A_device_that_could_not_be_made_is_made_when_it_can_be()
    {
        string tools = Directory.CreateDirectory(Path.Combine(_scratch.Root, "tools")).FullName;
        string busy = Path.Combine(_scratch.Root, "busy"), losetup = Path.Combine(tools, "losetup");
        File.WriteAllText(losetup, $"#!/bin/sh\n[ ! -e {busy} ] || {{ echo 'it is busy' >&2; exit 1; }}\nexec {Tool.Find("losetup")} \"$@\"\n");
        File.SetUnixFileMode(losetup, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        _scratch.Variables["PATH"] = $"{tools}:{Environment.GetEnvironmentVariable("PATH")}";
        Prepare();
        File.WriteAllText(busy, "");
        Scratch.Answer answer = _scratch.Run("New-VirtualDisk", "p", "-FriendlyName", "Data", "-Size", "100MB");
        Assert.Contains("losetup: it is busy", answer.Error);
        Thread.Sleep(3000);
        Assert.Equal("NbdUri", Text(Get("Data"), "AttachMethod"));
        File.Delete(busy);
        Scratch.Eventually("the virtual disk has its device", () => Text(Get("Data"), "DevicePath") is { Length: > 0 } device && File.Exists(device));
        Assert.NotEqual("NbdUri", Text(Get("Data"), "AttachMethod"));
    }

    [Fact]
    public void One_that_cannot_be_attached_is_created_and_a_warning_says_why()
    {
        Prepare();
        Ok("New-PhysicalDisk", "-Path", $"{_scratch.Root}/c.img,{_scratch.Root}/d.img", "-Size", "300MB", "-MediaType", "SSD");
        Ok("New-StoragePool", "-FriendlyName", "q", "-PhysicalDisks", "c,d");
        New("Data");
        Scratch.Answer answer = _scratch.Run("New-VirtualDisk", "q", "-FriendlyName", "Data", "-Size", "100MB");
        Assert.Equal(0, answer.ExitCode);
        Assert.Contains("Virtual disk 'Data' was created and is not attached: Another virtual disk 'Data' is connected.", answer.Error);
        Assert.Equal(["OK", "Detached"], All("Get-VirtualDisk").Select(disk => disk.GetProperty("OperationalStatus")[0].GetString()).OrderDescending());
    }

    [Fact]
    public void A_mounted_virtual_disk_is_renamed_and_goes_on_after_a_killed_host()
    {
        Prepare();
        string device = VolumeOn("Data");
        Scratch.Answer answer = _scratch.Run("Set-VirtualDisk", "Data", "-NewFriendlyName", "New name");
        Assert.Equal(0, answer.ExitCode);
        Assert.Contains("NBD clients of virtual disk 'New name' that connect again find it at nbd+unix:///New%20name?socket=", answer.Error);
        Assert.Equal([Path.Combine(Links, "New%20name")], Directory.GetFileSystemEntries(Links));
        Assert.Equal(Path.Combine(Links, "New%20name"), Text(Get("New name"), "DevicePath"));
        Assert.Equal(device, Text(_scratch.One("Get-Disk"), "Location"));

        Scratch.Kill(_scratch.Pair().Host);
        File.WriteAllText(Path.Combine(Letter, "g"), "after");
        Tool.Run("sync", "-f", Letter);
        Assert.Equal("data", File.ReadAllText(Path.Combine(Letter, "f")));
        Assert.Equal("after", File.ReadAllText(Path.Combine(Letter, "g")));
    }

    // Both at once are what FUSE devices do not survive: what was mounted on them is dead, and may hide the volume or keep it from being mounted.
    [Fact]
    public void Volumes_leave_the_device_that_lost_its_host_and_its_supervisor()
    {
        Prepare();
        string dead = VolumeOn("Data");
        string others = Directory.CreateDirectory(Path.Combine(_scratch.Root, "others")).FullName;
        Tool.Run("mount", "--bind", Letter, others);
        Tool.Run("sync", "-f", Letter);
        (int host, int supervisor) = _scratch.Pair();
        Tool.Run("kill", "-STOP", $"{host}");   // so that it starts no other supervisor between the two kills
        Tool.Run("kill", "-9", $"{supervisor}", $"{host}");
        Scratch.Eventually("nothing serves the device", () => !Scratch.IsAlive(host));

        Ok("start");
        try
        {
            Scratch.Eventually("the volume is mounted again", () => MountTable.Read().Count(mount => mount.Path == Letter) == 1
                && MountTable.Read().Any(mount => mount.Path == Letter && mount.Source != MountTable.Read().First(mount => mount.Path == others).Source));
            Assert.Equal("data", File.ReadAllText(Path.Combine(Letter, "f")));
            File.WriteAllText(Path.Combine(Letter, "g"), "after");
            Assert.Contains($"{dead}, the device of virtual disk 'Data', is broken", File.ReadAllText(_scratch.Paths.Log));
            Assert.Contains($"{others} is still mounted on it and reports errors: umount {others}", File.ReadAllText(_scratch.Paths.Log));
        }
        finally
        {
            Tool.Run("umount", "-l", others);
        }

        Ok("Disconnect-VirtualDisk", "Data");
        Assert.DoesNotContain(MountTable.Read(), mount => mount.Path == Letter);
    }

    // Their devices ask for the export by the friendly name, and would never find it again.
    [Fact]
    public void A_disk_that_an_earlier_version_attached_is_renamed_only_after_it_was_connected_again()
    {
        Prepare();
        New("Data");
        AttachThroughNbdkit("Data");
        Ok("stop", "-KeepAttached");
        string file = Directory.GetFiles(_scratch.Paths.State, "attached.json", SearchOption.AllDirectories).Single();
        JsonArray records = JsonNode.Parse(File.ReadAllText(file))!.AsArray();
        Assert.True(records[0]!.AsObject().Remove(nameof(AttachRecord.ExportName)));
        File.WriteAllText(file, records.ToJsonString());

        Scratch.Answer refused = _scratch.Run("Set-VirtualDisk", "Data", "-NewFriendlyName", "Other");
        Assert.Equal(1, refused.ExitCode);
        Assert.Contains("was attached by an earlier version, under its name", refused.Error);
        Assert.NotNull(Text(Get("Data"), "DevicePath"));
        Ok("Disconnect-VirtualDisk", "Data");
        Ok("Connect-VirtualDisk", "Data");
        Ok("Set-VirtualDisk", "Data", "-NewFriendlyName", "Other");
    }

    [Fact]
    public void A_volume_that_is_not_in_use_is_unmounted_when_its_disk_is_disconnected_and_mounted_when_it_is_connected()
    {
        Prepare();
        VolumeOn("Data");
        using (File.OpenRead(Path.Combine(Letter, "f")))
        {
            Refused("StorageWMI 4099", "Disconnect-VirtualDisk", "Data");
            Refused("StorageWMI 4099", "Remove-VirtualDisk", "Data", "-Confirm:false");
            Assert.Equal("data", File.ReadAllText(Path.Combine(Letter, "f")));
        }

        Ok("Disconnect-VirtualDisk", "Data");
        Assert.False(File.Exists(Path.Combine(Letter, "f")));
        Ok("Connect-VirtualDisk", "Data");
        Assert.Equal("data", File.ReadAllText(Path.Combine(Letter, "f")));
    }

    [Fact]
    public void One_that_is_removed_takes_its_mounts_and_their_folders_with_it()
    {
        Prepare();
        VolumeOn("Data");
        Ok("Remove-VirtualDisk", "Data", "-Confirm:false");
        Assert.False(Directory.Exists(Letter));
        Assert.Empty(All("Get-Volume"));
        VolumeOn("Data");   // the letter is free
    }

    [Fact]
    public void A_mount_that_others_made_keeps_the_disk_and_the_mounts_of_its_other_volumes()
    {
        Prepare();
        string device = VolumeOn("Data");
        string elsewhere = Directory.CreateDirectory(Path.Combine(_scratch.Root, "elsewhere")).FullName;
        Tool.Run("mount", device + "p1", elsewhere);
        try
        {
            Refused("is mounted on " + elsewhere, "Disconnect-VirtualDisk", "Data");
            Assert.Equal("data", File.ReadAllText(Path.Combine(Letter, "f")));
        }
        finally
        {
            Tool.Run("umount", elsewhere);
        }

        Ok("Disconnect-VirtualDisk", "Data");
    }

    [Fact]
    public void A_device_that_another_loop_device_or_a_program_has_open_is_left_as_it_is()
    {
        Prepare();
        New("Data");
        AttachThroughNbdkit("Data");
        string device = VolumeOf("Data");
        Ok("Remove-PartitionAccessPath", "1", "1", "-AccessPath", "E:");
        string loop = Tool.Run("losetup", "--find", "--show", device + "p1");
        try
        {
            Refused($"{device} is opened by the loop device {loop}.", "Disconnect-VirtualDisk", "Data");
            Refused($"{device} is opened by the loop device {loop}.", "Remove-VirtualDisk", "Data", "-Confirm:false");
        }
        finally
        {
            Tool.Run("losetup", "--detach", loop);
        }

        using Process holder = Process.Start("sh", ["-c", $"exec 9<{device}; exec sleep 60"]);
        try
        {
            Scratch.Eventually("the program has opened the device", () => BlockDeviceUsers.Of(device) is not null);
            Refused($"{device} is opened by process {holder.Id} (sleep).", "Disconnect-VirtualDisk", "Data");
            Assert.Contains("is in use and keeps its old size", _scratch.Run("Resize-VirtualDisk", "Data", "-Size", "300MB").Error);
            Assert.Equal(device, Text(_scratch.One("Get-Disk"), "Location"));
        }
        finally
        {
            holder.Kill();
        }

        Ok("Disconnect-VirtualDisk", "Data");
    }

    [Fact]
    public void What_others_have_mounted_over_a_volume_stays()
    {
        Prepare();
        VolumeOn("Data");
        Tool.Run("mount", "-t", "tmpfs", "over", Letter);
        try
        {
            File.WriteAllText(Path.Combine(Letter, "mine"), "mine");
            Refused("something else (over, tmpfs) is mounted over", "Disconnect-VirtualDisk", "Data");
            Refused("something else (over, tmpfs) is mounted over", "Remove-VirtualDisk", "Data", "-Confirm:false");
            Assert.Equal("mine", File.ReadAllText(Path.Combine(Letter, "mine")));
        }
        finally
        {
            Tool.Run("umount", Letter);
        }

        Assert.Equal("data", File.ReadAllText(Path.Combine(Letter, "f")));
    }

    [Fact]
    public void A_drive_letter_whose_folder_is_a_link_is_refused_before_anything_is_made()
    {
        Prepare();
        string elsewhere = Directory.CreateDirectory(Path.Combine(_scratch.Root, "elsewhere")).FullName;
        Directory.CreateDirectory(_scratch.VolumeRoot);
        File.CreateSymbolicLink(Letter, elsewhere);
        Refused($"goes through a symbolic link; without links it is '{elsewhere}'",
            "New-Volume", "-StoragePoolFriendlyName", "p", "-FriendlyName", "V", "-Size", "100MB", "-DriveLetter", "E");
        Assert.Empty(All("Get-VirtualDisk"));
    }

    [Fact]
    public void A_link_whose_name_is_taken_leaves_nothing_beside()
    {
        Prepare();
        Directory.CreateDirectory(Path.Combine(Links, "Data", "keep"));
        JsonElement disk = New("Data");
        Assert.StartsWith("/dev/loop", Text(disk, "DevicePath"), StringComparison.Ordinal);
        Assert.Equal([Path.Combine(Links, "Data")], Directory.GetFileSystemEntries(Links));
    }

    // A host that is killed while it makes a device has no record of it yet.
    [Fact]
    public void The_next_host_ends_what_a_killed_one_has_left_of_a_device_that_it_was_making()
    {
        Prepare();
        string folder = Directory.CreateDirectory(Path.Combine(_scratch.Paths.Home, "att", new string('a', 32))).FullName;
        Tool.Run(
            "nbdkit", "--unix", Path.Combine(folder, "retry.sock"), "--pidfile", Path.Combine(folder, "retry.pid"), "--filter=retry", "nbd",
            $"socket={folder}/none.sock", "retries=60");
        ProcessMark left = RunningProcess.WaitForPidFile(Path.Combine(folder, "retry.pid"), Path.Combine(folder, "retry.log"));
        Scratch.Kill(_scratch.Pair().Host);
        Scratch.Eventually("nothing of it is left", () => !RunningProcess.IsAlive(left) && !Directory.Exists(folder));
    }

    [Fact]
    public void The_device_through_nbdkit_of_a_disk_that_is_resized_grows_with_it_unless_it_is_in_use()
    {
        Prepare();
        New("Data");
        AttachThroughNbdkit("Data");
        Ok("Resize-VirtualDisk", "Data", "-Size", "300MB");
        Assert.InRange(DeviceBytes(), 300L << 20, 310L << 20);
        Assert.Equal("NbdFuse", Text(Get("Data"), "AttachMethod"));
        VolumeOf("Data");
        Scratch.Answer answer = _scratch.Run("Resize-VirtualDisk", "Data", "-Size", "400MB");
        Assert.Contains("is in use and keeps its old size", answer.Error);
        Assert.InRange(DeviceBytes(), 300L << 20, 310L << 20);
        Assert.Equal("data", File.ReadAllText(Path.Combine(Letter, "f")));
    }

    [Fact]
    public void A_device_grows_with_a_tier_of_its_disk()
    {
        Prepare();
        Ok("New-StorageTier", "p", "-FriendlyName", "Flash", "-MediaType", "SSD");
        Ok("New-VirtualDisk", "p", "-FriendlyName", "Data", "-StorageTiers", "Flash", "-StorageTierSizes", "200MB", "-WriteCacheSize", "0");
        AttachThroughNbdkit("Data");
        Ok("Resize-StorageTier", "Data_Flash", "-Size", "300MB");
        Assert.InRange(DeviceBytes(), 300L << 20, 310L << 20);
    }

    [Fact]
    public void A_disk_in_use_keeps_the_size_of_its_device_and_errors_say_how_it_gets_the_new_one()
    {
        Prepare();
        New("Data");
        AttachThroughNbdkit("Data");
        VolumeOf("Data");
        ulong old = _scratch.One("Get-Disk").GetProperty("Size").GetUInt64();
        Ok("Resize-VirtualDisk", "Data", "-Size", "400MB");
        JsonElement disk = _scratch.One("Get-Disk");
        Assert.Equal((old, DeviceBytes()), (disk.GetProperty("Size").GetUInt64(), (long)old));
        ulong grown = Get("Data").GetProperty("Size").GetUInt64();
        Assert.InRange(grown, 400UL << 20, 410UL << 20);
        const string action = "Disconnect-VirtualDisk 'Data' and Connect-VirtualDisk 'Data' give the block device the new size.";
        Assert.Equal($"The virtual disk has {SizeText.Exact(grown)}, and its block device {SizeText.Exact(old)}. {action}",
            Text(disk, "OtherOperationalStatusDescription"));
        foreach (string[] words in (string[][])[["Resize-Partition", "1", "1", "-Size", "300MB"], ["New-Partition", "1", "-Size", "100MB"], ["New-Partition",
            "1", "-UseMaximumSize"]])
        {
            Refused(action, words);
        }

        Ok("Disconnect-VirtualDisk", "Data");
        Ok("Connect-VirtualDisk", "Data");
        disk = _scratch.One("Get-Disk");
        Assert.Equal(((long)grown, grown), (DeviceBytes(), disk.GetProperty("Size").GetUInt64()));
        bool hasRemark = disk.TryGetProperty("OtherOperationalStatusDescription", out JsonElement remark) && remark.ValueKind != JsonValueKind.Null;
        Assert.False(hasRemark, $"{remark}");
        Ok("Resize-Partition", "1", "1", "-Size", "300MB");
        Refused("make the virtual disk larger: Resize-VirtualDisk", "Resize-Partition", "1", "1", "-Size", "500MB");
        Assert.Equal("data", File.ReadAllText(Path.Combine(Letter, "f")));
    }

    private long DeviceBytes() => long.Parse(
        Tool.Run("blockdev", "--getsize64", Text(_scratch.One("Get-Disk"), "Location")), System.Globalization.CultureInfo.InvariantCulture);

    private static string Text(JsonElement info, string property) => info.GetProperty(property).GetString()!;

    private JsonElement[] All(params string[] words) => [.. JsonDocument.Parse(_scratch.Run([.. words, "-Json"]).Output).RootElement.EnumerateArray()];

    private JsonElement Get(string name) => _scratch.One("Get-VirtualDisk", name);

    private JsonElement New(string name, params string[] more) => _scratch.One(["New-VirtualDisk", "p", "-FriendlyName", name, "-Size", "200MB", .. more]);

    private void Ok(params string[] words) => _scratch.Succeed(words);

    private void Refused(string text, params string[] words)
    {
        Scratch.Answer answer = _scratch.Run(words);
        Assert.True(
            answer.ExitCode == 1 && answer.Error.Contains(text, StringComparison.Ordinal), $"{string.Join(' ', words)}: {answer.ExitCode} {answer.Error}");
    }

    /// <summary>Attaches a disk in the way of earlier versions, whose device keeps its size while it is in use.</summary>
    private void AttachThroughNbdkit(string name)
    {
        Ok("Disconnect-VirtualDisk", name);
        Ok("Connect-VirtualDisk", name, "-AttachMethod", "NbdFuse");
    }

    /// <summary>A new virtual disk with a volume at E with a file; returns its device.</summary>
    private string VolumeOn(string name)
    {
        New(name);
        return VolumeOf(name);
    }

    private string VolumeOf(string name)
    {
        Ok("Initialize-Disk", "-VirtualDisk", name);
        Ok("New-Partition", "1", "-UseMaximumSize", "-DriveLetter", "E");
        Ok("Format-Volume", "E");
        File.WriteAllText(Path.Combine(Letter, "f"), "data");
        return Text(_scratch.One("Get-Disk"), "Location");
    }

    /// <summary>Two images and a pool of them.</summary>
    private void Prepare(string attachesNewDisks = "yes")
    {
        string? obstacle = new NbdFuseAttacher().Obstacle();
        Assert.SkipUnless(obstacle is null && Environment.IsPrivilegedProcess, $"needs root and FUSE: {obstacle}");
        _scratch.Variables[HostSettings.AttachNewVariable] = attachesNewDisks;
        Ok("New-PhysicalDisk", "-Path", $"{_scratch.Root}/a.img,{_scratch.Root}/b.img", "-Size", "1GB", "-MediaType", "SSD");
        Ok("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "a,b");
    }
}
