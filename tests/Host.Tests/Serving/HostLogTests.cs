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
