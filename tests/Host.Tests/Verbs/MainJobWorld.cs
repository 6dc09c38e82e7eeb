using System.Text.Json;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>A host of its own with the real executable, and four image files a, b, c and d in a pool p.</summary>
public sealed class MainJobWorld : IDisposable
{
    private readonly Lazy<string> _begun;

    public MainJobWorld()
    {
        Ok("New-PhysicalDisk", $"{Image("a")},{Image("b")},{Image("c")},{Image("d")}", "-Size", "256MB", "-MediaType", "SSD");
        Ok("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "a,b,c,d");
        _begun = new Lazy<string>(State);
    }

    /// <summary>The state when it was first asked for.</summary>
    public string Begun => _begun.Value;

    internal Scratch Scratch { get; } = new();

    public void Dispose()
    {
        Scratch.Run("Disconnect-VirtualDisk", "*");
        Scratch.Dispose();
    }

    public string Image(string name) => Path.Combine(Scratch.Root, name + ".img");

    public void Ok(params string[] words)
    {
        Scratch.Answer answer = Scratch.Run(words);
        Assert.True(answer.ExitCode == 0, $"{string.Join(' ', words)}: {answer.Error}");
    }

    public void Refused(string id, params string[] words)
    {
        Scratch.Answer answer = Scratch.Run(words);
        Assert.True(answer.ExitCode == 1 && answer.Error.Contains(id), $"{string.Join(' ', words)}: {answer.ExitCode} {answer.Error}");
    }

    public JsonElement All(params string[] words)
    {
        Scratch.Answer answer = Scratch.Run(words);
        Assert.True(answer.ExitCode == 0, $"{string.Join(' ', words)}: {answer.Error}");
        return JsonDocument.Parse(answer.Output).RootElement;
    }

    public JsonElement One(params string[] words) => Assert.Single(All(words).EnumerateArray());

    public string State() => string.Concat(
        ((string[])["Get-PhysicalDisk", "Get-StoragePool", "Get-VirtualDisk", "Get-ResiliencySetting"])
        .Select(verb => Scratch.Run(verb, "-Json").Output));
}
