using System.Diagnostics;
using System.Text.Json;
using TierSpaces.Acceptance;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>A thin pool that fills: what pool, virtual disk, log and client show, and that more disks or less data end it.</summary>
public sealed class FullThinPoolTests
{
    private const uint ENOSPC = 28;
    private const int Mebibyte = 1 << 20;

    [Fact]
    public void A_full_pool_says_so_refuses_first_writes_at_once_and_goes_on_with_all_else()
    {
        using Scratch scratch = new Scratch();
        scratch.Succeed("New-PhysicalDisk", "-Path", $"{scratch.Root}/1.img,{scratch.Root}/2.img,{scratch.Root}/3.img", "-Size", "128MB");
        scratch.Succeed("New-StoragePool", "-FriendlyName", "P", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "1,2");
        scratch.Succeed("New-VirtualDisk", "P", "-FriendlyName", "v", "-Size", "1GB", "-ResiliencySettingName", "Simple", "-NumberOfColumns", "1",
            "-ProvisioningType", "Thin");
        scratch.Succeed("Connect-VirtualDisk", "v");
        using NbdClient client = new NbdClient(One(scratch, "Get-VirtualDisk").GetProperty("NbdUri").GetString()!);
        Assert.Equal(("Healthy", "OK"), State(scratch, "Get-StoragePool"));

        int written = 0;
        Stopwatch watch = new Stopwatch();
        uint error;
        bool wasStressed = false;
        do
        {
            watch.Restart();
            error = Write(client, (long)written * Mebibyte);
            wasStressed |= written % 32 == 0 && State(scratch, "Get-StoragePool") == ("Warning", "Stressed");
        }
        while (error == 0 && ++written < 1024);

        Assert.Equal(ENOSPC, error);
        Assert.True(wasStressed);
        Assert.Equal(ENOSPC, Timed(watch, () => Write(client, (long)written * Mebibyte)));
        Assert.InRange(watch.Elapsed, TimeSpan.Zero, TimeSpan.FromSeconds(5));
        Assert.Equal(("Unhealthy", "Error"), State(scratch, "Get-StoragePool"));
        Assert.Equal(("Warning", "Stressed"), State(scratch, "Get-VirtualDisk"));
        foreach (string? verb in new[] { "Get-StoragePool", "Get-VirtualDisk" })
        {
            string? reason = One(scratch, verb).GetProperty("OtherOperationalStatusDescription").GetString();
            Assert.Matches("^Storage pool 'P' is full: [0-9]+ % .*'v'.* reads, overwrites, flushes and unmapping go on\\. ", reason);
        }

        Assert.Contains("Storage pool 'P' is full", File.ReadAllText(scratch.Paths.Log));
        Assert.Equal(0U, Write(client, 0));
        client.Send(3, NbdClient.Flush, 0, 0, 0);
        Assert.Equal((3UL, 0U), client.NextAnswer());

        scratch.Succeed("Add-PhysicalDisk", "-StoragePoolFriendlyName", "P", "-PhysicalDisks", "3");
        Assert.Equal(0U, Write(client, (long)written * Mebibyte));
        Assert.Equal("OK", State(scratch, "Get-VirtualDisk").Status);
    }

    private static T Timed<T>(Stopwatch watch, Func<T> work)
    {
        watch.Restart();
        T? result = work();
        watch.Stop();
        return result;
    }

    private static uint Write(NbdClient client, long offset)
    {
        client.Send(1, NbdClient.Write, 0, offset, Mebibyte, new byte[Mebibyte].Select((_, i) => (byte)i).ToArray());
        return client.NextAnswer().Error;
    }

    private static JsonElement One(Scratch scratch, string verb) =>
        JsonDocument.Parse(scratch.Run(verb, verb == "Get-StoragePool" ? "P" : "v", "-Json").Output).RootElement[0];

    private static (string Health, string Status) State(Scratch scratch, string verb)
    {
        JsonElement one = One(scratch, verb);
        JsonElement status = one.GetProperty("OperationalStatus");
        return (one.GetProperty("HealthStatus").GetString()!, status.ValueKind == JsonValueKind.Array ? status[0].GetString()! : status.GetString()!);
    }
}
