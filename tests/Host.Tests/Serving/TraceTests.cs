using System.Text.Json;

namespace TierSpaces.Host.Tests.Serving;

/// <summary>The command <c>trace</c>.</summary>
public class TraceTests
{
    [Fact]
    public void The_slowest_requests_are_explained()
    {
        using Scratch scratch = new();
        scratch.Succeed("New-PhysicalDisk", "-Path", string.Join(',', Enumerable.Range(1, 3).Select(i => $"{scratch.Root}/{i}.img")), "-Size", "256MB");
        scratch.Succeed("New-StoragePool", "-FriendlyName", "P", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "*");
        scratch.Succeed("New-VirtualDisk", "P", "-FriendlyName", "v", "-Size", "16MB", "-ResiliencySettingName", "Mirror");
        Scratch.Answer unconnected = scratch.Run("trace", "v");
        Assert.Equal(1, unconnected.ExitCode);
        Assert.Contains("is not connected", unconnected.Error);
        scratch.Succeed("Connect-VirtualDisk", "v");
        Assert.Contains("--seconds 61: out of range", scratch.Run("trace", "v", "--seconds", "61").Error);
        Assert.Contains("names 0 virtual disks", scratch.Run("trace", "other*").Error);

        using PauseMeter client = new(scratch.One("Get-VirtualDisk", "v").GetProperty("NbdUri").GetString()!);
        JsonElement report = JsonDocument.Parse(scratch.Run("trace", "v", "--seconds", "0.5", "--count", "40", "--json").Output).RootElement;
        Assert.InRange(report.GetProperty("Requests").GetInt32(), 10, int.MaxValue);
        JsonElement[] slowest = [.. report.GetProperty("Slowest").EnumerateArray()];
        Assert.Equal(40, slowest.Length);
        long[] totals = Array.ConvertAll(slowest, static request => request.GetProperty("Times").GetProperty("TotalNs").GetInt64());
        Assert.Equal(totals.OrderDescending(), totals);
        JsonElement write = slowest.First(static request => request.GetProperty("Command").GetString() == "Write");
        Assert.Equal(4096, write.GetProperty("Length").GetInt64());
        string[] disks = [.. write.GetProperty("Members").EnumerateArray()
            .Where(static member => member.GetProperty("Operation").GetString() == "Write").Select(static member => member.GetProperty("Disk").GetString()!)];
        Assert.Subset(new HashSet<string> { "1", "2", "3" }, disks.ToHashSet());
        Assert.True(disks.Distinct().Count() >= 2, $"A mirrored write goes to {string.Join(", ", disks)}.");
        Assert.InRange(write.GetProperty("Times").GetProperty("MemberDiskNs").GetInt64(), 1, totals[0]);

        string table = scratch.Run("trace", "v", "--seconds", "0.2", "--count", "2").Output;
        Assert.Contains("total ms", table);
        Assert.Contains("mean of all requests", table);
    }
}
