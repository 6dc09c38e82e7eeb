using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>
/// Friendly names: what is refused as a name, and names with quotes, commas, wildcards and blanks, which every verb of the command line must
/// find again as they were typed.
/// </summary>
public sealed class NameTests(MainJobWorld world) : IClassFixture<MainJobWorld>
{
    private const string Valid = "Valid: 1 to 256 characters, at least one of them visible, no control characters. Choose another name. [StorageWMI 5]";

    private readonly string _before = world.Begun;

    public static TheoryData<string> Unusual => [
        "it's", "'single'", "\"open", "a, b", "'a,b',", "[ab]", "what?", "back`tick", "50% & co; $HOME \\ #1*", "ü 漢字 🙂", "../up", " blanks ",
    ];

    public static TheoryData<string, string> Invalid => new()
    {
        { "", "'': is empty." },
        { " ", "' ': is blank." },
        { "\t", "'\\u0009': has control characters." },
        { "\u00a0\u3000\u200b", "'\u00a0\u3000\u200b': is blank." },
        { "a\nb", "'a\\u000ab': has control characters." },
        { "\u0085x", "'\\u0085x': has control characters." },
        { new string('x', 257), $"'{new string('x', 40)}…': has 257 characters." },
    };

    [Theory]
    [MemberData(nameof(Invalid))]
    public void Refuses_a_name_that_nobody_could_see_or_type(string name, string problem)
    {
        (string Parameter, string[] Words)[] lines =
        [
            ("FriendlyName", ["New-VirtualDisk", "p", "-Size", "16MB", "-FriendlyName", name]),
            ("FriendlyName", ["New-StorageTier", "p", "-MediaType", "SSD", "-FriendlyName", name]),
            ("FriendlyName", ["New-StoragePool", "-PhysicalDisks", "a", "-FriendlyName", name]),
            ("NewFriendlyName", ["Set-StoragePool", "p", "-NewFriendlyName", name]),
            ("NewFriendlyName", ["Set-PhysicalDisk", "a", "-NewFriendlyName", name]),
        ];
        foreach ((string? parameter, string[]? words) in lines)
        {
            Scratch.Answer answer = world.Scratch.Run(words);
            Assert.Equal($"{words[0]}: Invalid parameter. -{parameter} {problem} {Valid}".Replace("..", "."), answer.Error.TrimEnd());
            Assert.Equal(1, answer.ExitCode);
        }

        Assert.Equal(_before, world.State());
    }

    [Theory]
    [MemberData(nameof(Unusual))]
    public void An_unusual_name_works_in_every_verb(string name)
    {
        world.Ok("New-VirtualDisk", "p", "-FriendlyName", name, "-Size", "16MB");
        world.Ok("New-VirtualDisk", "p", "-FriendlyName", "whata", "-Size", "16MB");   // fits some of the names as wildcards
        Assert.Equal(name, Name(world.One(Line("Get-VirtualDisk", name, "-Json"))));
        world.Ok(Line("Connect-VirtualDisk", name));
        Assert.True(Path.Exists(Socket(world.One(Line("Get-VirtualDisk", name, "-Json")))));
        world.Ok(Line("Disconnect-VirtualDisk", name));
        world.Ok("Set-VirtualDisk", "-FriendlyName", "whata", "-NewFriendlyName", $"{name}2");
        world.Ok(Line("Remove-VirtualDisk", name));
        Assert.Equal($"{name}2", Name(world.One("Get-VirtualDisk", "-Json")));
        world.Ok(Line("Remove-VirtualDisk", $"{name}2"));

        world.Ok("New-StorageTier", "p", "-FriendlyName", name, "-MediaType", "SSD");
        world.Ok(Line("Remove-StorageTier", name));
        world.Ok("Set-StoragePool", "p", "-NewFriendlyName", name);
        Assert.Equal(name, Name(world.One(Line("Get-StoragePool", name, "-Json"))));
        world.Ok(Line("Set-StoragePool", name, "-NewFriendlyName", "p"));
        Assert.Equal(_before, world.State());
    }

    /// <summary>A command line that selects by friendly name. A list needs quotes around an item with a comma, as in PowerShell.</summary>
    private static string[] Line(string verb, string name, params string[] rest)
    {
        bool isList = VerbDescription.Find(verb)!.Parameters.First(parameter => parameter.Name == "FriendlyName").IsList;
        return [verb, "-FriendlyName", isList && name.Contains(',') ? $"'{name.Replace("'", "''")}'" : name, .. rest];
    }

    private static string? Name(JsonElement disk) => disk.GetProperty("FriendlyName").GetString();

    private static string Socket(JsonElement disk) =>
        Uri.UnescapeDataString(disk.GetProperty("NbdUri").GetString()!.Split("socket=")[1]);
}
