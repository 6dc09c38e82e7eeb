namespace TierSpaces.Host.Tests.Serving;

/// <summary>The log of a detached host.</summary>
public class HostLogTests
{
    [Fact]
    public void A_line_written_while_the_host_opens_is_followed_by_all_later_ones()
    {
        using Scratch scratch = new Scratch { Variables = { ["TIERSPACES_IO_DEADLINES"] = "soon" } };
        Assert.Equal(0, scratch.Run("start").ExitCode);
        scratch.Run("New-PhysicalDisk", "-Path", $"{scratch.Root}/1.img", "-Size", "256MB");
        scratch.Run("New-StoragePool", "-FriendlyName", "P", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "*");
        string log = File.ReadAllText(scratch.Paths.Log);
        Assert.Contains("TIERSPACES_IO_DEADLINES:", log);
        Assert.Contains("ready on", log);
        Assert.Contains("Storage pool P was made of 1 disk.", log);
    }

    [Fact]
    public void A_backend_that_does_not_exist_is_logged_and_the_default_is_used()
    {
        using Scratch scratch = new Scratch { Variables = { ["TIERSPACES_IO_BACKEND"] = "iocp" } };
        Scratch.Answer started = scratch.Run("start");
        Assert.Equal((0, ""), (started.ExitCode, started.Error));
        Assert.Contains(
            "TIERSPACES_IO_BACKEND: 'iocp' is not an I/O backend. Valid: uring and threads. The default value is used.", File.ReadAllText(scratch.Paths.Log));
        Assert.DoesNotContain("asked for", scratch.One("Get-TierSpacesHost").GetProperty("IOBackendReason").GetString()!);
        Assert.DoesNotContain("unhandled", scratch.Run("inspect", "/nowhere.img").Error, StringComparison.OrdinalIgnoreCase);
    }

    [Fact]
    public void A_large_log_is_moved_aside_while_the_host_runs_and_no_link_is_followed()
    {
        using Scratch scratch = new Scratch();
        scratch.Run("start");
        File.AppendAllText(scratch.Paths.Log, new string('x', (int)HostLog.BytesMax));
        scratch.Run("New-PhysicalDisk", "-Path", $"{scratch.Root}/1.img", "-Size", "256MB");
        scratch.Run("New-StoragePool", "-FriendlyName", "P", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "*");
        Assert.Contains("ready on", File.ReadAllText(scratch.Paths.Log + ".old"));
        Assert.Contains("Storage pool P was made", File.ReadAllText(scratch.Paths.Log));
        Assert.InRange(new FileInfo(scratch.Paths.Log).Length, 1, HostLog.BytesMax / 2);

        string victim = Path.Combine(scratch.Root, "victim");
        File.WriteAllText(victim, "mine");
        File.Delete(scratch.Paths.Log);
        File.CreateSymbolicLink(scratch.Paths.Log, victim);
        Assert.Equal(0, scratch.Run("New-VirtualDisk", "P", "-FriendlyName", "v", "-ResiliencySettingName", "Simple", "-Size", "16MB").ExitCode);
        Assert.Equal("mine", File.ReadAllText(victim));
    }
}
