namespace TierSpaces.Host.Tests.Serving;

/// <summary>Each file of the state folder that cannot be written or does not answer: an error of the verb that needs it, and of nothing else.</summary>
public class StateFileFaultTests
{
    private static readonly string[] s_files = ["disks.json*", "attached.json*", "reliability*", "witness*", "opened-*", "notes-*"];

    [Theory]
    [InlineData("uring", "EIO ENOSPC")]
    [InlineData("threads", "ENOSPC EIO")]
    public void A_file_that_fails(string backend, string effects)
    {
        using Scratch scratch = Start(backend);
        using PauseMeter client = Serve(scratch);
        int host = scratch.Pair().Host;
        for (int i = 0; i < s_files.Length; i++)
        {
            scratch.OrderFaults($"* {s_files[i]} {effects.Split(' ')[i % 2]}");
            bool[] done = UseAll(scratch, $"f{i}-");
            scratch.Succeed("Get-StoragePool", "P");
            scratch.Succeed("Get-PhysicalDisk");
            Assert.True(done.Contains(false) || s_files[i] is "reliability*" or "opened-*", $"{s_files[i]} is needed by some verb.");
        }

        scratch.OrderFaults();
        Assert.DoesNotContain(false, UseAll(scratch, "g-"));
        Assert.Equal(host, scratch.Pair().Host);
        Assert.Equal("Healthy", scratch.One("Get-StoragePool", "P").GetProperty("HealthStatus").GetString());
        Assert.InRange(client.Requests, 1, long.MaxValue);
    }

    [Theory]
    [InlineData("uring")]
    [InlineData("threads")]
    public void Shared_memory_that_does_not_answer(string backend)
    {
        using Scratch scratch = Start(backend);
        using PauseMeter client = Serve(scratch);
        scratch.OrderFaults("* notes-* block");
        long before = client.Requests;
        Scratch.Answer answer = scratch.Run("New-VirtualDisk", "P", "-FriendlyName", "w", "-Size", "16MB", "-ResiliencySettingName", "Mirror");
        Assert.Equal(1, answer.ExitCode);
        Assert.Contains("shared memory does not answer", answer.Error);
        Assert.InRange(client.Requests - before, 100, long.MaxValue);
        scratch.OrderFaults();
        Scratch.Eventually("a virtual disk is made again", () =>
            scratch.Run("New-VirtualDisk", "P", "-FriendlyName", "w", "-Size", "16MB", "-ResiliencySettingName", "Mirror").ExitCode == 0);
        Assert.Equal(2, scratch.Run("Get-VirtualDisk", "-Json").Output.Split("\"UniqueId\"").Length - 1);
    }

    /// <summary>Verbs that write to each of the files. Each ends, and one that fails says why.</summary>
    private static bool[] UseAll(Scratch scratch, string name)
    {
        string[] images = [.. Enumerable.Range(1, 3).Select(i => $"{scratch.Root}/{name}{i}.img")];
        return
        [
            Ends(scratch, "New-PhysicalDisk", "-Path", string.Join(',', images), "-Size", "64MB"),
            Ends(scratch, "New-StoragePool", "-FriendlyName", name, "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", $"{name}*"),
            Ends(scratch, "New-VirtualDisk", "P", "-FriendlyName", name, "-Size", "4MB", "-ResiliencySettingName", "Mirror"),
            Ends(scratch, "Connect-VirtualDisk", name),
            Ends(scratch, "Reset-StorageReliabilityCounter", "-PhysicalDisk", $"{name}1"),
            Ends(scratch, "Disconnect-VirtualDisk", name),
            Ends(scratch, "Remove-VirtualDisk", name),
            Ends(scratch, "Remove-StoragePool", name),
            Ends(scratch, "Unregister-PhysicalDisk", $"{name}*"),
        ];
    }

    private static bool Ends(Scratch scratch, params string[] words)
    {
        Scratch.Answer answer = scratch.Run(words);
        Assert.True(answer.ExitCode == 0 || answer.Error.Length > 0, $"{string.Join(' ', words)} fails without a reason.");
        return answer.ExitCode == 0;
    }

    private static PauseMeter Serve(Scratch scratch)
    {
        scratch.Succeed("New-PhysicalDisk", "-Path", string.Join(',', Enumerable.Range(1, 3).Select(i => $"{scratch.Root}/{i}.img")), "-Size", "256MB");
        scratch.Succeed("New-StoragePool", "-FriendlyName", "P", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "*");
        scratch.Succeed("New-VirtualDisk", "P", "-FriendlyName", "v", "-Size", "16MB", "-ResiliencySettingName", "Mirror");
        scratch.Succeed("Connect-VirtualDisk", "v");
        return new PauseMeter(scratch.One("Get-VirtualDisk", "v").GetProperty("NbdUri").GetString()!);
    }

    private static Scratch Start(string backend)
    {
        Scratch scratch = new() { Variables = { ["TIERSPACES_IO_BACKEND"] = backend } };
        scratch.Variables["TIERSPACES_CALL_FAULTS"] = scratch.CallFaultRules;
        scratch.Succeed("start");
        return scratch;
    }
}
