using TierSpaces.Contracts;

namespace TierSpaces.Host.Tests.Supervision;

/// <summary>The pair of host and supervisor, with the real executable.</summary>
public class SupervisionTests
{
    [Fact]
    public void A_killed_host_is_started_again()
    {
        using Scratch scratch = new Scratch();
        Assert.Equal(0, scratch.Run("start").ExitCode);
        (int Host, int Supervisor) before = scratch.Pair();
        Scratch.Kill(before.Host);
        Scratch.Eventually("another host answers", () => scratch.Pair().Host != before.Host);
        Assert.Equal(before.Supervisor, scratch.Pair().Supervisor);
    }

    [Fact]
    public void A_killed_supervisor_is_started_again_and_the_host_goes_on()
    {
        using Scratch scratch = new Scratch();
        scratch.Run("start");
        (int Host, int Supervisor) before = scratch.Pair();
        Scratch.Kill(before.Supervisor);
        Scratch.Eventually("another supervisor runs", () => scratch.Pair().Supervisor != before.Supervisor);
        Assert.Equal(before.Host, scratch.Pair().Host);
        Scratch.Kill(before.Host);
        Scratch.Eventually("the new supervisor starts a host", () => scratch.Pair().Host != before.Host);
    }

    [Fact]
    public void Both_killed_the_next_call_starts_both()
    {
        using Scratch scratch = new Scratch();
        scratch.Run("start");
        (int Host, int Supervisor) before = scratch.Pair();
        Scratch.Kill(before.Supervisor);
        Scratch.Kill(before.Host);
        Assert.Equal(0, scratch.Run("start").ExitCode);
        (int Host, int Supervisor) after = scratch.Pair();
        Assert.NotEqual(before.Host, after.Host);
        Assert.NotEqual(before.Supervisor, after.Supervisor);
    }

    [Fact]
    public void A_host_told_to_stop_stays_stopped()
    {
        using Scratch scratch = new Scratch();
        scratch.Run("start");
        (int Host, int Supervisor) pair = scratch.Pair();
        Assert.Equal(0, scratch.Run("stop").ExitCode);
        Scratch.Eventually("both have ended", () => !Scratch.IsAlive(pair.Host) && !Scratch.IsAlive(pair.Supervisor));
        Assert.False(File.Exists(scratch.Paths.Socket));
        Assert.Contains("No host runs in", scratch.Run("status").Error);
    }

    [Fact]
    public async Task Whoever_stops_a_host_meets_it_no_more()
    {
        using Scratch scratch = new Scratch();
        scratch.Run("New-PhysicalDisk", "-Path", string.Join(',', Enumerable.Range(1, 4).Select(i => $"{scratch.Root}/{i}.img")), "-Size", "256MB");
        scratch.Run("New-StoragePool", "-FriendlyName", "P", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "*");
        using ManagementClient client = new ManagementClient(scratch.Paths);
        using ManagementClient connected = new ManagementClient(scratch.Paths);
        await connected.SendAsync(new GetTierSpacesHostRequest(), TestContext.Current.CancellationToken);
        await client.SendAsync(new StopTierSpacesHostRequest(), TestContext.Current.CancellationToken);
        StorageException answer = await Assert.ThrowsAsync<StorageException>(
            () => connected.SendAsync(new GetTierSpacesHostRequest(), TestContext.Current.CancellationToken));
        Assert.Equal(nameof(StorageErrors.HostUnreachable), answer.Error.Word);
    }

    [Fact]
    public void Many_at_once_start_one_host()
    {
        using Scratch scratch = new Scratch();
        Scratch.Answer[] answers = Enumerable.Range(0, 6).AsParallel().WithDegreeOfParallelism(6)
            .Select(_ => scratch.Run("Start-TierSpacesHost", "-Json")).ToArray();
        Assert.All(answers, answer => Assert.Equal((0, ""), (answer.ExitCode, answer.Error)));
        IEnumerable<int> hosts = answers.Select(answer => System.Text.Json.JsonDocument.Parse(answer.Output).RootElement[0].GetProperty("ProcessId"))
            .Select(id => id.GetInt32()).Distinct();
        Assert.Single(hosts);
    }

    [Fact]
    public void Homes_run_side_by_side()
    {
        using Scratch one = new Scratch("one");
        using Scratch two = new Scratch("two");
        one.Run("start");
        two.Run("start");
        Assert.NotEqual(one.Pair().Host, two.Pair().Host);
        one.Run("stop");
        Assert.Equal(0, two.Run("status").ExitCode);
    }

    [Fact]
    public void A_second_host_in_the_foreground_is_refused_and_names_the_first()
    {
        using Scratch scratch = new Scratch();
        scratch.Run("start");
        Scratch.Answer answer = scratch.Run("serve");
        Assert.Equal(1, answer.ExitCode);
        Assert.Contains($"Process {scratch.Pair().Host} is the host of {scratch.Paths.Home}.", answer.Error);
    }
}
