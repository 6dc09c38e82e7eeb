using System.Globalization;
using System.Text.Json;
using TierSpaces.Conformance;
using TierSpaces.Contracts;
using TierSpaces.Host.Verbs;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>
/// Rows of the table of parameters, sent to a host in this process: what is refused is answered with its code and named and nothing is
/// done; what has no effect has none.
/// </summary>
public sealed class ParameterTableTests(InProcessHost shared) : IClassFixture<InProcessHost>
{
    public static TheoryData<string, string, string> Refused => [.. Rows(ParameterState.Refused)];

    public static TheoryData<string, string, string> Accepted => [.. ParameterTable.Rows.Where(row => row.Accepted is not null)
        .Select(row => (row.Cmdlet, row.Parameter, row.Accepted!))];

    public static TheoryData<string, string, string> WithoutEffect => [.. Rows(ParameterState.WithoutEffect)];

    [Theory]
    [MemberData(nameof(Refused))]
    public async Task What_is_refused_is_answered_with_its_code_and_named(string cmdlet, string parameter, string value)
    {
        ParameterRow row = ParameterTable.Rows.Single(
            row => (row.Cmdlet, row.Parameter, row.State, row.Value) == (cmdlet, parameter, ParameterState.Refused, value));
        string before = await shared.StateAsync();
        JsonElement reply = await shared.SendAsync(cmdlet, Request(cmdlet, parameter, row.IsForOneValue ? value : null));

        JsonElement error = Assert.Single(reply.GetProperty("Errors").EnumerateArray().ToArray());
        Assert.Equal(row.Code, error.GetProperty("Code").GetInt32());
        Assert.Contains("-" + parameter, error.GetProperty("ExtendedInformation").GetString());
        Assert.Equal(before, await shared.StateAsync());
    }

    [Theory]
    [MemberData(nameof(Accepted))]
    public void A_value_that_says_nothing_is_accepted(string cmdlet, string parameter, string value)
    {
        VerbDescription verb = VerbDescription.Find(cmdlet)!;
        byte[] json = JsonSerializer.SerializeToUtf8Bytes(Request(cmdlet, parameter, value));
        StorageRequest request = (StorageRequest)JsonSerializer.Deserialize(json, ContractsJson.Default.GetTypeInfo(verb.RequestType)!)!;

        RequestCheck.Check(verb, request, warning => Assert.Fail(warning));
    }

    [Theory]
    [MemberData(nameof(WithoutEffect))]
    public async Task What_has_no_effect_changes_nothing_and_says_so(string cmdlet, string parameter, string value)
    {
        Assert.Equal("", value);
        await using InProcessHost with = await InProcessHost.StartAsync();
        await using InProcessHost without = await InProcessHost.StartAsync();
        Dictionary<string, object?> request = Working(cmdlet);
        JsonElement plain = await without.SendAsync(cmdlet, request);
        request[parameter] = Sample(cmdlet, Parameter(cmdlet, parameter));
        JsonElement reply = await with.SendAsync(cmdlet, request);

        IEnumerable<string> warnings = reply.GetProperty("Warnings").EnumerateArray().Select(warning => warning.GetString()!);
        Assert.Contains(warnings, warning => warning.StartsWith($"-{parameter} has no effect", StringComparison.Ordinal));
        Assert.Equal((0, 0), (plain.GetProperty("Errors").GetArrayLength(), reply.GetProperty("Errors").GetArrayLength()));
        Assert.Equal(without.Masked(plain.GetProperty("Objects").ToString()), with.Masked(reply.GetProperty("Objects").ToString()));
        Assert.Equal(await without.StateAsync(), await with.StateAsync());
    }

    private static IEnumerable<(string Cmdlet, string Parameter, string Value)> Rows(ParameterState state) => ParameterTable.Rows
        .Where(row => row.State == state && row.Cmdlet != ParameterTable.EveryCmdlet).Select(row => (row.Cmdlet, row.Parameter, row.Value));

    private static ParameterDescription Parameter(string cmdlet, string name) =>
        VerbDescription.Find(cmdlet)!.Parameters.Single(parameter => parameter.Name == name);

    /// <summary>A request that is complete but for what its values mean: the parameter, with what its set requires.</summary>
    private static Dictionary<string, object?> Request(string cmdlet, string parameter, string? value)
    {
        (VerbDescription? verb, ParameterDescription? meant) = (VerbDescription.Find(cmdlet)!, Parameter(cmdlet, parameter));
        string set = meant.Sets.Concat([PossibleSet(verb)]).First();
        Dictionary<string, object?> request = verb.Parameters
            .Where(other => other.Attribute is { Required: true, Default: "" } && (set.Length == 0 || other.IsIn(set)))
            .ToDictionary(other => other.Name, other => Sample(cmdlet, other));
        request[parameter] = value is null ? Sample(cmdlet, meant) : Read(meant, value);
        if (cmdlet == "New-VirtualDisk")
        {
            request["Size"] = 32 << 20;
        }

        return request;
    }

    /// <summary>The default set, or one after it when that requires what is refused; empty when there are none.</summary>
    private static string PossibleSet(VerbDescription verb)
    {
        HashSet<string> rejected = verb.Parameters.Where(parameter => parameter.Attribute is { Required: true, Refused.Length: > 0 })
            .SelectMany(parameter => parameter.Sets).ToHashSet();
        return new[] { verb.Verb.DefaultSet }.Concat(verb.Parameters.SelectMany(parameter => parameter.Sets)).First(set => !rejected.Contains(set));
    }

    /// <summary>A request that succeeds without the parameter.</summary>
    private static Dictionary<string, object?> Working(string cmdlet) => cmdlet switch
    {
        "Get-VirtualDisk" => [],   // its one parameter without effect is in a set that is refused
        "Format-Volume" => new() { ["FileSystemLabel"] = new[] { "none*" } },
        "Optimize-Volume" => new() { ["FileSystemLabel"] = new[] { "none*" } },
        "New-StoragePool" => new() { ["FriendlyName"] = "new", ["PhysicalDisks"] = new[] { "free" } },
        "New-VirtualDisk" => new() { ["StoragePoolFriendlyName"] = new[] { "p" }, ["FriendlyName"] = "new", ["Size"] = 32 << 20 },
        "New-StorageTier" => new() { ["StoragePoolFriendlyName"] = new[] { "p" }, ["FriendlyName"] = "new" },
        "Set-StorageTier" => new() { ["FriendlyName"] = "t", ["NumberOfColumns"] = 2 },
        "Set-StoragePool" => new() { ["FriendlyName"] = "p" },
        "Set-VirtualDisk" => new() { ["FriendlyName"] = "v", ["Access"] = "ReadWrite" },
        "Update-StorageProviderCache" => [],
        _ => new() { ["FriendlyName"] = new[] { "v" }, ["PassThru"] = true },
    };

    private static object? Sample(string cmdlet, ParameterDescription parameter)
    {
        object one = SampleOne(cmdlet, parameter);
        return parameter.IsList ? new[] { one } : one;
    }

    private static object SampleOne(string cmdlet, ParameterDescription parameter)
    {
        if (parameter.AcceptedValues is { Length: > 0 } values)
        {
            return values.First(value => value != parameter.Attribute.Default);
        }

        return parameter.ElementType == typeof(bool) ? true
            : parameter.ElementType != typeof(string) ? 4096
            : parameter.Name == "PhysicalDisks" ? "free"
            : cmdlet.Contains("-StorageTier", StringComparison.Ordinal) && parameter.Name is "UniqueId" ? "*"
            : cmdlet.StartsWith("Get-StorageTier", StringComparison.Ordinal) && parameter.Name is "FriendlyName" ? "t"
            : parameter.Name == "FriendlyName" && cmdlet.StartsWith("New-", StringComparison.Ordinal) ? "new"
            : (parameter.Name + cmdlet).Contains("VirtualDisk", StringComparison.Ordinal) && !parameter.Name.Contains("Pool", StringComparison.Ordinal) ? "v"
            : "p";
    }

    private static object Read(ParameterDescription parameter, string value) =>
        parameter.ElementType == typeof(bool) ? bool.Parse(value)
        : parameter.ElementType == typeof(string) || parameter.ElementType.IsEnum ? value
        : ulong.Parse(value, CultureInfo.InvariantCulture);
}
