using System.Text.Json;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Tests.Volumes;

/// <summary>Volumes on a real host, with real devices and file systems: what a shell does not show well, restarts above all.</summary>
public sealed class VolumeVerbTests : IDisposable
{
    private readonly Scratch _scratch = new();
    private readonly List<string> _loops = [];

    public void Dispose()
    {
        _scratch.Dispose();
        _loops.ForEach(loop => Tool.Run("losetup", "--detach", loop));
    }

    [Fact]
    public void A_mount_outlives_a_killed_host_and_comes_back_after_a_restart_of_the_machine()
    {
        Prepare();
        Ok("Initialize-Disk", "1");
        Ok("New-Partition", "1", "-Size", "100MB", "-DriveLetter", "E");
        Ok("New-Partition", "1", "-UseMaximumSize");
        Ok("Format-Volume", "E", "-NewFileSystemLabel", "first");
        Ok("Add-PartitionAccessPath", "1", "2", "-AccessPath", Path.Combine(_scratch.Root, "second"));
        Ok("Format-Volume", "-Path", Path.Combine(_scratch.Root, "second"), "-FileSystem", "btrfs");
        string file = Path.Combine(_scratch.VolumeRoot, "E", "f");
        File.WriteAllText(file, "data");
        Ok("Write-VolumeCache", "E");
        string before = _scratch.Run("Get-Partition", "-Json").Output;

        Scratch.Kill(_scratch.Pair().Host);
        Assert.Equal("data", File.ReadAllText(file));
        Scratch.Eventually("the next host answers", () => _scratch.Run("Get-Partition", "-Json").Output == before);

        Reboot();
        Ok("Get-Disk");
        Scratch.Eventually("both mounts are back", () => Mounts().Length == 2);
        Assert.Equal("data", File.ReadAllText(file));
        Assert.Equal(["Healthy", "Healthy"], All("Get-Volume").Select(volume => Text(volume, "HealthStatus")));
    }

    [Fact]
    public void A_mount_that_cannot_come_back_is_a_fault_that_names_the_command_and_holds_up_no_other()
    {
        Prepare();
        Ok("Initialize-Disk", "1");
        Ok("New-Partition", "1", "-Size", "100MB", "-DriveLetter", "E");
        Ok("New-Partition", "1", "-UseMaximumSize", "-DriveLetter", "F");
        Ok("Format-Volume", "E");
        Ok("Format-Volume", "F");
        Reboot();
        Directory.Delete(Path.Combine(_scratch.VolumeRoot, "E"));
        File.WriteAllText(Path.Combine(_scratch.VolumeRoot, "E"), "in the way");
        Ok("Get-Disk");
        Scratch.Eventually("the other mount is back", () => Mounts().Length == 1);
        JsonElement volume = _scratch.One("Get-Volume", "E");
        Assert.Equal(("Warning", "Error"), (Text(volume, "HealthStatus"), volume.GetProperty("OperationalStatus")[0].GetString()));
        Assert.Contains("Run: Add-PartitionAccessPath -DiskNumber 1 -PartitionNumber 1 -AccessPath 'E:'.", Text(volume, "OtherOperationalStatusDescription"));
        File.Delete(Path.Combine(_scratch.VolumeRoot, "E"));
        Ok("Add-PartitionAccessPath", "1", "1", "-AccessPath", "E:");
        Assert.Equal("Healthy", Text(_scratch.One("Get-Volume", "E"), "HealthStatus"));
    }

    // A restart of the machine at which the disks of one of two pools are missing, and a killed host.
    [Fact]
    public void Volumes_of_several_pools_come_back_and_one_whose_pool_does_not_open_holds_up_no_other()
    {
        Prepare();
        Ok("Remove-VirtualDisk", "Data");
        Ok("New-PhysicalDisk", "-Path", $"{_scratch.Root}/c.img,{_scratch.Root}/d.img", "-Size", "1GB");
        Ok("New-StoragePool", "-FriendlyName", "q", "-PhysicalDisks", "c,d");
        (string Pool, string Letter)[] volumes = [("p", "E"), ("q", "F"), ("p", "G"), ("q", "H")];
        Random random = new(7);
        Dictionary<string, byte[]> data = [];
        foreach ((string pool, string letter) in volumes)
        {
            Ok("New-Volume", "-StoragePoolFriendlyName", pool, "-FriendlyName", letter, "-Size", "300MB", "-DriveLetter", letter);
            random.NextBytes(data[letter] = new byte[1_000_000]);
            File.WriteAllBytes(FileOn(letter), data[letter]);
            Ok("Write-VolumeCache", letter);
        }

        Reboot();
        File.Move($"{_scratch.Root}/c.img", $"{_scratch.Root}/away-c");
        File.Move($"{_scratch.Root}/d.img", $"{_scratch.Root}/away-d");
        Ok("Get-Disk");
        Scratch.Eventually("volumes of the other pool are back", () => Mounts().Length == 2);
        AssertThere("E", "G");
        string said = _scratch.Run("Get-Volume").Error;
        Assert.Contains("Volumes at F:, H: are not mounted", said);
        Assert.Contains($"c ({_scratch.Root}/c.img), d ({_scratch.Root}/d.img)", said);

        File.Move($"{_scratch.Root}/away-c", $"{_scratch.Root}/c.img");
        File.Move($"{_scratch.Root}/away-d", $"{_scratch.Root}/d.img");
        Scratch.Eventually("every volume is back", () => Mounts().Length == 4, () => File.ReadAllText(_scratch.Paths.Log));
        AssertThere("E", "F", "G", "H");
        Assert.DoesNotContain("not mounted", _scratch.Run("Get-Volume").Error);

        Scratch.Kill(_scratch.Pair().Host);
        AssertThere("E", "F", "G", "H");

        string FileOn(string letter) => Path.Combine(_scratch.VolumeRoot, letter, "f");
        void AssertThere(params string[] letters) => Array.ForEach(letters, letter => Assert.Equal(data[letter], File.ReadAllBytes(FileOn(letter))));
    }

    [Fact]
    public void A_foreign_disk_is_never_listed_or_changed()
    {
        Prepare();
        string image = Path.Combine(_scratch.Root, "foreign.img");
        File.WriteAllBytes(image, new byte[64 << 20]);
        string loop = Tool.Run("losetup", "--find", "--show", "--partscan", image);
        _loops.Add(loop);
        Tool.Run("mkfs.ext4", "-q", "-L", "foreign", loop);
        byte[] before = File.ReadAllBytes(image);

        Assert.DoesNotContain(loop, _scratch.Run("Get-Disk", "-Json").Output);
        Assert.DoesNotContain("foreign", _scratch.Run("Get-Volume", "-Json").Output);
        foreach (string[] line in (string[][])[["Clear-Disk", "-Path", loop, "-RemoveData"], ["Initialize-Disk", "-Path", loop], ["New-Partition",
            "-DiskPath", loop, "-UseMaximumSize"],
            ["Format-Volume", "-Path", loop], ["Format-Volume", "-FileSystemLabel", "foreign"], ["Repair-Volume", "-Path", loop]])
        {
            Scratch.Answer answer = _scratch.Run(line);
            Assert.True(answer.ExitCode == 1 && answer.Error.Contains("No MSFT_", StringComparison.Ordinal), $"{string.Join(' ', line)}: {answer.Error}");
        }

        Ok("Initialize-Disk", "-Path", "*");
        Ok("Clear-Disk", "-Path", "*", "-RemoveData", "-RemoveOEM", "-Confirm:false");
        Assert.Equal(before, File.ReadAllBytes(image));
    }

    [Fact]
    public void A_device_that_was_formatted_as_a_whole_is_not_blank_and_shows_its_file_system()
    {
        Prepare();
        Tool.Run("mkfs.ext4", "-q", "-L", "whole", Text(_scratch.One("Get-Disk"), "Location"));
        Refused("DiskNotBlank", "Initialize-Disk", "1");
        Refused("StorageWMI 41008", "Clear-Disk", "1");
        JsonElement volume = _scratch.One("Get-Volume");
        Assert.Equal(("whole", "ext4"), (Text(volume, "FileSystemLabel"), Text(volume, "FileSystem")));
        Ok("Clear-Disk", "1", "-RemoveData");
        Assert.Equal("[]", _scratch.Run("Get-Volume", "-Json").Output.Trim());
        Ok("Initialize-Disk", "1");
    }

    [Theory]
    [InlineData("GPT")]
    [InlineData("MBR")]
    public void A_partition_grows_into_a_virtual_disk_that_was_made_larger_and_connected_again(string style)
    {
        Prepare();
        Ok("Disconnect-VirtualDisk", "Data");
        Ok("Connect-VirtualDisk", "Data", "-AttachMethod", "NbdFuse");
        Ok("Initialize-Disk", "1", "-PartitionStyle", style);
        Ok("New-Partition", "1", "-UseMaximumSize", "-DriveLetter", "E");
        Ok("Format-Volume", "E");
        Ok("Resize-VirtualDisk", "Data", "-Size", "700MB");
        long Greatest() => _scratch.One("Get-PartitionSupportedSize", "1", "1").GetProperty("SizeMax").GetInt64();
        Assert.InRange(Greatest(), 1, 400 << 20);   // the device keeps its size while it is connected

        Ok("Remove-PartitionAccessPath", "1", "1", "-AccessPath", "E:");
        Ok("Disconnect-VirtualDisk", "Data");
        Ok("Connect-VirtualDisk", "Data");
        long greatest = Greatest();
        Assert.InRange(greatest, (700L << 20) - (2 << 20), 700L << 20);
        Ok("Resize-Partition", "1", "1", "-Size", $"{greatest}");
        Ok("Add-PartitionAccessPath", "1", "1", "-AccessPath", "E:");
        Assert.Equal(greatest, _scratch.One("Get-Partition", "1", "1").GetProperty("Size").GetInt64());
        Assert.InRange(_scratch.One("Get-Volume", "E").GetProperty("Size").GetInt64(), 600L << 20, greatest);
        string device = Text(_scratch.One("Get-Disk"), "Location");
        Assert.DoesNotContain("not on the end", Tool.Run("sh", "-c", $"sfdisk --json {device} 2>&1"));
    }

    [Fact]
    public void A_disk_whose_device_is_gone_is_no_disk()
    {
        Prepare();
        Scratch.Eventually("a disk without a device is no disk", () =>
        {
            foreach (JsonElement disk in All("Get-Disk"))   // another device where the host has made one in between
            {
                string file = $"/sys/block/{Path.GetFileName(Text(disk, "Location"))}/loop/backing_file";
                if (File.Exists(file) && File.ReadAllText(file).StartsWith(_scratch.Root, StringComparison.Ordinal))
                {
                    Tool.Run("losetup", "--detach", Text(disk, "Location"));
                }
            }

            return _scratch.Run("Get-Disk", "-Json").Output.Trim() == "[]"
                && _scratch.Run("Initialize-Disk", "-VirtualDisk", "Data").Error.Contains("NoBlockDevice", StringComparison.Ordinal);
        });
    }

    private static string Text(JsonElement info, string property) => info.GetProperty(property).GetString()!;

    private JsonElement[] All(params string[] words) => [.. JsonDocument.Parse(_scratch.Run([.. words, "-Json"]).Output).RootElement.EnumerateArray()];

    private void Ok(params string[] words) => _scratch.Succeed(words);

    private void Refused(string id, params string[] words)
    {
        Scratch.Answer answer = _scratch.Run(words);
        Assert.True(answer.ExitCode == 1 && answer.Error.Contains(id, StringComparison.Ordinal),
            $"{string.Join(' ', words)}: {answer.ExitCode} {answer.Error}");
    }

    private string[] Mounts() => [.. File.ReadLines("/proc/self/mounts").Where(line => line.Contains(_scratch.Root, StringComparison.Ordinal)
        && !line.Contains("fuse", StringComparison.Ordinal))];

    /// <summary>Two images, a mirror of 400 MB, connected as disk 1.</summary>
    private void Prepare()
    {
        string? obstacle = new NbdFuseAttacher().Obstacle();
        Assert.SkipUnless(obstacle is null && Environment.IsPrivilegedProcess, $"needs root and FUSE: {obstacle}");
        Ok("New-PhysicalDisk", "-Path", $"{_scratch.Root}/a.img,{_scratch.Root}/b.img", "-Size", "1GB", "-MediaType", "SSD");
        Ok("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "a,b");
        Ok("New-VirtualDisk", "p", "-FriendlyName", "Data", "-Size", "400MB");
        Ok("Connect-VirtualDisk", "Data");
    }

    /// <summary>State that a machine that starts again leaves: the host's state on its disk, and neither processes nor mounts nor devices.</summary>
    private void Reboot()
    {
        foreach (string path in Mounts().Select(line => line.Split(' ')[1]))
        {
            Tool.Run("umount", path);
        }

        Ok("stop", "-Force");
        Assert.Empty(Directory.GetDirectories(Path.Combine(_scratch.Paths.Home, "att")));
    }
}
