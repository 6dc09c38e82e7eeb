using System.Diagnostics;
using System.Text.Json;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Tests.Volumes;

/// <summary>New-Volume on a real host: everything or nothing, also when a step fails, or the host or the client is killed.</summary>
public sealed class NewVolumeTests : IDisposable
{
    private const int Seed = 5;
    private static readonly int s_kills = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1" ? 30 : 6;
    private readonly Scratch _scratch = new();

    public void Dispose() => _scratch.Dispose();

    [Fact]
    public void A_step_that_fails_takes_everything_away_again()
    {
        Prepare();
        string place = Path.Combine(_scratch.Root, "place");
        Directory.CreateDirectory(place);
        File.WriteAllText(Path.Combine(place, "file"), "x");
        Refused("New-Volume: ", "New-Volume", "-StoragePoolFriendlyName", "p", "-FriendlyName", "v", "-Size", "400MB", "-AccessPath", place);
        Refused("StorageWMI 4097", "New-Volume", "-StoragePoolFriendlyName", "p", "-FriendlyName", "v", "-Size", "200MB", "-FileSystem", "xfs");
        Refused("StorageWMI 43000", "New-Volume", "-StoragePoolFriendlyName", "p", "-FriendlyName", "v", "-Size", "400MB", "-AllocationUnitSize", "100");
        Refused("StorageWMI 40000", "New-Volume", "-StoragePoolFriendlyName", "p", "-FriendlyName", "v", "-Size", "400GB", "-ProvisioningType", "Fixed");
        AssertNothing();
        Ok("New-Volume", "-StoragePoolFriendlyName", "p", "-FriendlyName", "v", "-Size", "500MB", "-FileSystem", "xfs", "-DriveLetter", "E");
        File.WriteAllText(Path.Combine(_scratch.VolumeRoot, "E", "file"), "data");
    }

    [Fact]
    public void A_volume_with_an_allocation_unit_that_only_the_replaced_file_system_has_is_made_with_the_default_and_says_so()
    {
        Prepare();
        Scratch.Answer answer = _scratch.Run(
            "New-Volume", "-StoragePoolFriendlyName", "p", "-FriendlyName", "v", "-Size", "500MB", "-FileSystem", "ReFS", "-AllocationUnitSize", "65536");
        Assert.Equal(0, answer.ExitCode);
        Assert.Contains("-AllocationUnitSize 65536 has no effect: ReFS has it, and xfs", answer.Error);
        Assert.Equal(4096, _scratch.One("Get-Volume").GetProperty("AllocationUnitSize").GetInt32());
    }

    [Fact]
    public void The_size_of_an_allocation_unit_is_checked_against_the_sectors_of_the_new_virtual_disk_before_anything_is_made()
    {
        Prepare("-LogicalSectorSizeDefault", "4096");
        string[] words = ["New-Volume", "-StoragePoolFriendlyName", "p", "-FriendlyName", "v", "-Size", "500MB", "-AllocationUnitSize"];
        List<(string FileSystem, string Size, string Valid)> wrong = [("ext4", "1024", "4096."), ("xfs", "2048", "4096."), ("ReFS", "1024", "4096."),
            ("ext4", "3000", "4096.")];
        wrong.AddRange(File.Exists("/usr/sbin/mkfs.ntfs") ? [("NTFS", "512", "4096, 8192,"), ("NTFS", "1024", "4096, 8192,")] : []);
        foreach ((string fileSystem, string size, string valid) in wrong)
        {
            string text = $"Valid: {valid}";
            Refused(text, [.. words, size, "-FileSystem", fileSystem, "-WhatIf"]);
            Refused(text, [.. words, size, "-FileSystem", fileSystem]);
        }

        Refused("Valid: 4096.", [.. words, "100"]);
        Refused("StorageWMI 4097", "New-Volume", "-StoragePoolFriendlyName", "p", "-FriendlyName", "v", "-Size", "200MB", "-FileSystem", "xfs");
        Assert.DoesNotContain("that was being made", File.ReadAllText(_scratch.Paths.Log));
        AssertNothing();
    }

    [Fact]
    public void On_sectors_of_4096_bytes_a_smaller_allocation_unit_of_NTFS_becomes_the_default_and_the_warning_says_what_is_valid_there()
    {
        Prepare("-LogicalSectorSizeDefault", "4096");
        const string reason = "has no effect: NTFS has it, and ext4, which is made without -FileSystem, does not on a disk with sectors of 4096 bytes. "
            + "The default of 4096 bytes is used. Valid on this disk: 4096.";
        Scratch.Answer made = _scratch.Run(
            "New-Volume", "-StoragePoolFriendlyName", "p", "-FriendlyName", "v", "-Size", "400MB", "-DriveLetter", "E", "-AllocationUnitSize", "1024");
        Assert.True(made.ExitCode == 0, made.Error);
        Assert.Contains($"-AllocationUnitSize 1024 {reason}", made.Error);
        foreach (string size in (string[])["1024", "65536"])
        {
            Scratch.Answer formatted = _scratch.Run("Format-Volume", "E", "-AllocationUnitSize", size, "-Confirm:false");
            Assert.True(formatted.ExitCode == 0, formatted.Error);
            Assert.Contains($"-AllocationUnitSize {size} {reason}", formatted.Error);
            Assert.Equal(4096, _scratch.One("Get-Volume").GetProperty("AllocationUnitSize").GetInt32());
        }

        Refused("Valid: 4096.", "Format-Volume", "E", "-FileSystem", "ext4", "-AllocationUnitSize", "1024", "-Confirm:false");
        Ok("New-VirtualDisk", "p", "-FriendlyName", "Data", "-Size", "200MB");
        Ok("Connect-VirtualDisk", "Data");
        Refused("Valid: 4096.", "New-Volume", "-DiskNumber", "2", "-FriendlyName", "w", "-FileSystem", "ext4", "-AllocationUnitSize", "2048");
        Scratch.Answer onDisk = _scratch.Run("New-Volume", "-DiskNumber", "2", "-FriendlyName", "w", "-AllocationUnitSize", "2048");
        Assert.True(onDisk.ExitCode == 0, onDisk.Error);
        Assert.Contains($"-AllocationUnitSize 2048 {reason}", onDisk.Error);
    }

    [Fact]
    public void A_volume_covers_a_disk_that_has_no_partitions()
    {
        Prepare();
        Ok("New-VirtualDisk", "p", "-FriendlyName", "Data", "-Size", "400MB");
        Ok("Connect-VirtualDisk", "Data");
        Ok("New-Volume", "-DiskNumber", "1", "-FriendlyName", "a long name for a label");
        JsonElement volume = _scratch.One("Get-Volume");
        Assert.Equal("a long name for", volume.GetProperty("FileSystemLabel").GetString());
        Assert.EndsWith("/a%20long%20name%20for%20a%20label", volume.GetProperty("MountPoints")[0].GetString());
        Refused("DiskNotBlank", "New-Volume", "-DiskNumber", "1", "-FriendlyName", "again");
        Assert.Equal(1, _scratch.One("Get-Partition").GetProperty("PartitionNumber").GetInt32());
    }

    [Fact]
    public void A_killed_host_or_client_leaves_everything_or_nothing()
    {
        Prepare();
        Random random = new(Seed);
        string[] words = ["New-Volume", "-StoragePoolFriendlyName", "p", "-FriendlyName", "v", "-Size", "400MB", "-DriveLetter", "E"];
        Stopwatch watch = Stopwatch.StartNew();
        Ok(words);
        int whole = (int)watch.ElapsedMilliseconds;
        TakeAway();
        int nothing = 0;
        for (int kill = 0; kill < s_kills; kill++)
        {
            using Process client = _scratch.Start(words);
            bool ended = client.WaitForExit(random.Next(whole));
            if (kill % 2 == 0)
            {
                Scratch.Kill(_scratch.Pair().Host);
            }
            else if (!ended)
            {
                client.Kill();
            }

            client.WaitForExit();
            Scratch.Eventually("everything or nothing", () => IsWhole() || IsNothing(), () => File.ReadAllText(_scratch.Paths.Log));
            bool made = IsWhole();
            nothing += made ? 0 : 1;
            if (!made)
            {
                // The next call works, unless the request of a client that was killed was on its way and is carried out after all.
                Scratch.Answer next = _scratch.Run(words);
                Assert.True(next.ExitCode == 0 || (kill % 2 != 0 && next.Error.Contains("NameTaken", StringComparison.Ordinal)), next.Error);
                Scratch.Eventually("the volume is made", IsWhole, () => File.ReadAllText(_scratch.Paths.Log));
            }

            TakeAway();
        }

        Assert.InRange(nothing, 1, s_kills);
    }

    [Fact]
    public void A_command_that_is_interrupted_says_that_the_host_goes_on_and_leaves_everything_or_nothing()
    {
        Prepare();
        string[] words = ["New-Volume", "-StoragePoolFriendlyName", "p", "-FriendlyName", "v", "-Size", "400MB", "-DriveLetter", "E"];
        (int code, string said) = Interrupt(words);
        for (int late = 0; code == 0 && late < 5; late++)   // on a busy machine the volume may be there before the signal is
        {
            TakeAway();
            (code, said) = Interrupt(words);
        }

        Assert.Equal(130, code);
        Assert.Equal("New-Volume was interrupted; the host goes on: it makes the volume, or takes away what it has made of it. Get-Volume shows a volume that is "
            + "made.\n", said);
        Scratch.Eventually("everything or nothing", () => IsWhole() || IsNothing(), () => File.ReadAllText(_scratch.Paths.Log));
        if (IsNothing())
        {
            Ok(words);
        }

        Assert.True(IsWhole());
    }

    /// <summary>Interrupts a command once the volume is being made; its exit code and its errors.</summary>
    private (int Code, string Said) Interrupt(string[] words)
    {
        using Process client = _scratch.Start(words);
        Scratch.Eventually("the volume is being made", () => client.HasExited || (File.Exists(StateFile) && HasRecord()));
        Process.Start("kill", ["-INT", $"{client.Id}"]).WaitForExit();
        string said = client.StandardError.ReadToEnd();
        client.WaitForExit();
        return (client.ExitCode, said);
    }

    private static bool IsMounted(string place) =>
        File.ReadLines("/proc/self/mounts").Any(line => line.Split(' ')[1] == place);

    private string Place => Path.Combine(_scratch.VolumeRoot, "E");

    // Looked at once: remains may be taken away between two looks.
    private bool IsWhole() => IsMounted(Place) && Count("Get-VirtualDisk") == 1
        && _scratch.Run("Get-Volume", "-Json") is { ExitCode: 0, Output: var output }
        && JsonDocument.Parse(output).RootElement.EnumerateArray().ToArray() is [var volume]
        && volume.GetProperty("HealthStatus").GetString() == "Healthy" && !HasRecord();

    private bool IsNothing() => !IsMounted(Place) && Count("Get-VirtualDisk") == 0 && Count("Get-Disk") == 0 && !HasRecord();

    private string StateFile => Path.Combine(_scratch.Paths.State, "volumes.json");

    private bool HasRecord() => File.ReadAllText(StateFile) is var text
        && JsonDocument.Parse(text).RootElement.GetProperty("Creations").GetArrayLength() > 0;

    private int Count(string verb) =>
        _scratch.Run(verb, "-Json") is { ExitCode: 0, Output: var output } ? JsonDocument.Parse(output).RootElement.GetArrayLength() : -1;

    private void AssertNothing()
    {
        Assert.Equal((0, 0), (Count("Get-VirtualDisk"), Count("Get-Disk")));
        Assert.False(Directory.Exists(Place));
    }

    private void TakeAway()
    {
        Ok("Remove-PartitionAccessPath", "1", "1", "-AccessPath", "E:");
        Ok("Disconnect-VirtualDisk", "v");
        Ok("Remove-VirtualDisk", "v");
    }

    private void Ok(params string[] words) => _scratch.Succeed(words);

    private void Refused(string id, params string[] words)
    {
        Scratch.Answer answer = _scratch.Run(words);
        Assert.True(answer.ExitCode == 1 && answer.Error.Contains(id, StringComparison.Ordinal), $"{string.Join(' ', words)}: {answer.ExitCode} {answer.Error}");
    }

    private void Prepare(params string[] pool)
    {
        string? obstacle = new NbdFuseAttacher().Obstacle();
        Assert.SkipUnless(obstacle is null && Environment.IsPrivilegedProcess, $"needs root and FUSE: {obstacle}");
        Ok("New-PhysicalDisk", "-Path", $"{_scratch.Root}/a.img,{_scratch.Root}/b.img", "-Size", "1GB", "-MediaType", "SSD");
        Ok(["New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "a,b", .. pool]);
    }
}
