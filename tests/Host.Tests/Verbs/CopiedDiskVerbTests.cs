using System.Text.Json;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Copies of image files of a pool, as users meet them: what the verbs say and change, over restarts of the host.</summary>
public sealed class CopiedDiskVerbTests : IDisposable
{
    private readonly Scratch _scratch = new();

    public void Dispose() => _scratch.Dispose();

    [Fact]
    public void A_copy_is_refused_with_both_names_and_can_be_made_a_new_disk()
    {
        Pool();
        string copy = CopyOf("a1");
        string refused = Refused("Register-PhysicalDisk", copy);
        Assert.Contains(copy, refused, StringComparison.Ordinal);
        Assert.Contains(Image("a1"), refused, StringComparison.Ordinal);
        Assert.Contains("Reset-PhysicalDisk", refused, StringComparison.Ordinal);
        Assert.Contains(Image("a1"), Refused("Register-PhysicalDisk", copy, "-WhatIf"), StringComparison.Ordinal);
        Assert.Equal(("OK", 3), (Text("OperationalStatus", "Get-StoragePool", "P"), Disks().Length));

        Assert.Contains(copy, _scratch.Run("Reset-PhysicalDisk", "-Path", copy, "-WhatIf").Output, StringComparison.Ordinal);
        Refused("Register-PhysicalDisk", copy);
        Refused("Reset-PhysicalDisk", "-Path", Image("a1"));   // the member
        _scratch.Succeed("Reset-PhysicalDisk", "-Path", copy);
        _scratch.Succeed("Register-PhysicalDisk", copy);
        Assert.True(_scratch.One("Get-PhysicalDisk", "copy").GetProperty("CanPool").GetBoolean());
        Assert.Equal("OK", Text("OperationalStatus", "Get-StoragePool", "P"));
    }

    [Theory]
    [InlineData("delete")]
    [InlineData("unregister")]
    [InlineData("reset")]
    public void Two_images_of_one_disk_at_the_start_are_both_named_and_the_pool_opens_with_the_one_that_is_left(string way)
    {
        Pool();
        _scratch.Succeed("New-PhysicalDisk", Image("copy"), "-Size", "128MB");
        _scratch.Succeed("stop");
        File.Copy(Image("a1"), Image("copy"), overwrite: true);
        _scratch.Succeed("start");

        string reason = Text("OtherOperationalStatusDescription", "Get-StoragePool", "P");
        Assert.All(["a1", "copy"], name => Assert.Contains(Image(name), reason, StringComparison.Ordinal));
        foreach (string name in new[] { "a1", "copy" })
        {
            JsonElement disk = At(name);
            Assert.Equal("Split", disk.GetProperty("OperationalStatus")[0].GetString());
            string details = disk.GetProperty("OperationalDetails")[0].GetString()!;
            Assert.All(["a1", "copy"], other => Assert.Contains(Image(other), details, StringComparison.Ordinal));
        }

        switch (way)
        {
            case "delete":
                File.Delete(Image("copy"));
                break;
            case "unregister":
                _scratch.Succeed("Unregister-PhysicalDisk", "-Path", Image("copy"));
                break;
            default:
                _scratch.Succeed("Reset-PhysicalDisk", "-Path", Image("copy"));
                break;
        }

        Scratch.Eventually("the pool is whole", () => Text("OperationalStatus", "Get-StoragePool", "P") == "OK");
        Assert.Equal("OK", At("a1").GetProperty("OperationalStatus")[0].GetString());
        Assert.Equal(way == "unregister" ? 3 : 4, Disks().Length);
    }

    private void Pool()
    {
        foreach (string name in new[] { "a1", "a2", "a3" })
        {
            _scratch.Succeed("New-PhysicalDisk", Image(name), "-Size", "128MB");
        }

        _scratch.Succeed("New-StoragePool", "-FriendlyName", "P", "-PhysicalDisks", "a1,a2,a3");
    }

    private string Refused(params string[] words)
    {
        Scratch.Answer answer = _scratch.Run(words);
        Assert.NotEqual(0, answer.ExitCode);
        return answer.Error;
    }

    private string Image(string name) => Path.Combine(_scratch.Root, $"{name}.img");

    private string CopyOf(string name)
    {
        Assert.Equal(0, _scratch.RunAs("cp", [Image(name), Image("copy")]).ExitCode);   // File.Copy respects the lock of the host
        return Image("copy");
    }

    private JsonElement[] Disks() => [.. JsonDocument.Parse(_scratch.Run("Get-PhysicalDisk", "-Json").Output).RootElement.EnumerateArray()];

    private JsonElement At(string name) => Disks().Single(disk => disk.GetProperty("Path").GetString() == Image(name));

    private string Text(string property, params string[] words)
    {
        JsonElement value = _scratch.One(words).GetProperty(property);
        return (value.ValueKind == JsonValueKind.Array ? value[0] : value).GetString()!;
    }
}
