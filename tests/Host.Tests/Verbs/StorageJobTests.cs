using System.Text.Json;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Storage jobs with the real executable: a repair is listed when it has ended, and what cannot be is refused.</summary>
public sealed class StorageJobTests : IDisposable
{
    private readonly Scratch _scratch = new();

    public StorageJobTests()
    {
        Ok("New-PhysicalDisk", $"{Image("a")},{Image("b")},{Image("c")}", "-Size", "128MB", "-MediaType", "SSD");
        Ok("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "a,b,c");
        Ok("New-VirtualDisk", "p", "-FriendlyName", "d", "-Size", "16MB", "-ProvisioningType", "Thin");
    }

    [Fact]
    public void A_repair_ends_completed_and_stays_listed()
    {
        Ok("Repair-VirtualDisk", "d");

        JsonElement job = One("Get-StorageJob", "-Name", "Repair", "-Json");

        Assert.Equal(("Repair", "Completed", 100), (Text(job, "Name"), Text(job, "JobState"), job.GetProperty("PercentComplete").GetInt32()));
        Assert.True(job.GetProperty("IsBackgroundTask").GetBoolean());
        Assert.Equal(job.GetProperty("BytesTotal").GetInt64(), job.GetProperty("BytesProcessed").GetInt64());
        Assert.Equal("d", Text(One("Get-VirtualDisk", "-StorageJob", Text(job, "UniqueId"), "-Json"), "FriendlyName"));
        Assert.Equal("p", Text(One("Get-StoragePool", "-StorageJob", Text(job, "UniqueId"), "-Json"), "FriendlyName"));
        Assert.Contains("StorageWMI 5", _scratch.Run("Stop-StorageJob", "-Name", "Repair").Error);
    }

    [Fact]
    public void A_pool_is_spread_over_its_disks_and_the_job_listed()
    {
        Ok("New-PhysicalDisk", Image("e"), "-Size", "128MB", "-MediaType", "SSD");
        Ok("Add-PhysicalDisk", "-StoragePoolFriendlyName", "p", "-PhysicalDisks", "e");

        Assert.Equal("p", Text(One("Optimize-StoragePool", "p", "-PassThru", "-Json"), "FriendlyName"));

        JsonElement job = One("Get-StorageJob", "-Name", "Optimize", "-Json");
        Assert.Equal(("Completed", 100), (Text(job, "JobState"), job.GetProperty("PercentComplete").GetInt32()));
        Assert.Equal("p", Text(One("Get-StoragePool", "-StorageJob", Text(job, "UniqueId"), "-Json"), "FriendlyName"));
    }

    [Fact]
    public void What_is_not_there_is_named()
    {
        Assert.Contains("NotFound_FriendlyName", _scratch.Run("Repair-VirtualDisk", "absent").Error);
        Assert.Contains("NotFound_Name", _scratch.Run("Stop-StorageJob", "-Name", "absent").Error);
        Assert.Equal(0, JsonDocument.Parse(_scratch.Run("Get-StorageJob", "-Json").Output).RootElement.GetArrayLength());
    }

    public void Dispose() => _scratch.Dispose();

    private string Image(string name) => Path.Combine(_scratch.Root, name + ".img");

    private void Ok(params string[] words)
    {
        Scratch.Answer answer = _scratch.Run(words);
        Assert.True(answer.ExitCode == 0, answer.Error + answer.Output);
    }

    private JsonElement One(params string[] words)
    {
        Scratch.Answer answer = _scratch.Run(words);
        Assert.True(answer.ExitCode == 0, answer.Error + answer.Output);
        return Assert.Single(JsonDocument.Parse(answer.Output).RootElement.EnumerateArray());
    }

    private static string Text(JsonElement element, string property) => element.GetProperty(property).GetString()!;
}
