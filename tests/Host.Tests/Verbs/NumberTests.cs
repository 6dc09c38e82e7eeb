using System.Text;
using System.Text.Json;
using TierSpaces.Contracts;
using TierSpaces.Host.CommandLine;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Numbers that the type of a parameter cannot hold, and the largest that it can, for every number parameter of every verb.</summary>
public sealed class NumberTests(InProcessHost host) : IClassFixture<InProcessHost>
{
    public static TheoryData<string, string> Numbers => [.. VerbDescription.All.SelectMany(
        verb => verb.Parameters.Where(NumberRange.IsNumber).Select(parameter => (verb.Name, parameter.Name)))];

    [Theory]
    [MemberData(nameof(Numbers))]
    public void The_command_line_names_value_range_and_what_to_do(string verb, string name)
    {
        ParameterDescription parameter = Parameter(verb, name);
        string[] fractions = parameter.Attribute.Kind == ParameterKind.Size ? [] : ["1.5", "0.5", "2.5", "0.1KB"];
        foreach (string text in (string[])["-1", "18446744073709551616", "1.5.5GB", "lots", "", "-1GB", .. fractions])
        {
            UsageException wrong = Assert.Throws<UsageException>(() => Write(parameter, text));
            AssertComplete(wrong.Error, parameter, text);
        }
    }

    [Theory]
    [MemberData(nameof(Numbers))]
    public async Task The_host_names_value_range_and_what_to_do(string verb, string name)
    {
        ParameterDescription parameter = Parameter(verb, name);
        string before = await host.StateAsync();
        foreach (string text in (string[])["-1", "18446744073709551616", "1.5", "true", "{}"])
        {
            byte[] body = Encoding.UTF8.GetBytes($$"""{"{{name}}":{{(parameter.IsList ? $"[1,{text}]" : text)}}}""");
            AssertComplete(await ErrorOf(verb, body), parameter, text == "true" ? "True" : text);
        }

        Assert.Equal(before, await host.StateAsync());
    }

    /// <summary>
    /// A value that the type allows and the engine does not is refused by a row of the table, and never with an unexpected failure. No message has raw bytes.
    /// </summary>
    [Theory]
    [MemberData(nameof(Numbers))]
    public async Task The_largest_number_is_refused_or_carried_out(string verb, string name)
    {
        if (verb is "Test-StoragePowerCut" or "Stop-TierSpacesHost")
        {
            return;   // no parameter of these selects an object; their own tests have the limits
        }

        ParameterDescription parameter = Parameter(verb, name);
        string before = await host.StateAsync();
        bool isSize = parameter.Attribute.Kind == ParameterKind.Size;
        ulong max = NumberRange.MaxOf(parameter.ElementType);
        foreach (ulong value in isSize ? [max, (max / 2) + 1, 0, 4097, 12345678] : (ulong[])[max, (max / 2) + 1])
        {
            foreach (string set in parameter.Sets is { Length: > 0 } sets ? sets : [""])
            {
                Dictionary<string, object?> request = VerbDescription.Find(verb)!.Parameters
                    .Where(other => other.Attribute.Required && (set.Length == 0 || other.IsIn(set)) && Valid(verb, other) is not null)
                    .ToDictionary(other => other.Name, other => Valid(verb, other));
                request[name] = parameter.IsList ? new[] { value } : value;
                request["WhatIf"] = true;
                JsonElement answer = await host.SendAsync(verb, request);
                RawNumbers.AssertNone(answer, isSize && !name.EndsWith("SectorSize", StringComparison.Ordinal) ? "" : $"{value}");
                foreach (JsonElement error in answer.GetProperty("Errors").EnumerateArray())
                {
                    Assert.True(error.GetProperty("Code").GetInt32() != StorageErrors.Failed.Code, $"{verb} -{name} {value}: {error}");
                }
            }
        }

        Assert.Equal(before, await host.StateAsync());
    }

    private static object? Valid(string verb, ParameterDescription parameter)
    {
        object? one = parameter.Name switch
        {
            "StoragePoolFriendlyName" or "StoragePoolName" => "p",
            "VirtualDiskFriendlyName" => "v",
            "StorageTierFriendlyName" => "t",
            "FriendlyName" or "Name" when verb.StartsWith("New-", StringComparison.Ordinal) => "n",
            "FriendlyName" or "Name" => verb.Split('-')[1] switch
            {
                "StoragePool" => "p", "VirtualDisk" or "FileStorageTier" => "v", "StorageTier" => "t", "ResiliencySetting" => "Mirror", _ => "a",
            },
            "Size" or "Offset" or "Length" => 16UL << 20,
            "MediaType" => "SSD",
            "Path" => "/tmp/no-such-file.img",
            _ => null,
        };
        return one is null ? null : parameter.IsList ? new[] { one } : one;
    }

    private static ParameterDescription Parameter(string verb, string name) =>
        VerbDescription.Find(verb)!.Parameters.First(parameter => parameter.Name == name);

    private static void Write(ParameterDescription parameter, string text)
    {
        using Utf8JsonWriter json = new Utf8JsonWriter(Stream.Null);
        json.WriteStartObject();
        ValueText.Write(json, parameter, text);
    }

    private async Task<StorageErrorInfo> ErrorOf(string verb, byte[] body) =>
        Assert.Single((await host.SendBytesAsync(verb, body)).GetProperty("Errors").EnumerateArray()).Deserialize(ContractsJson.Default.StorageErrorInfo)!;

    private static void AssertComplete(StorageErrorInfo error, ParameterDescription parameter, string value)
    {
        Assert.Equal("StorageWMI 5", error.ErrorId);
        Assert.StartsWith($"-{parameter.Name} '{value}': is not ", error.ExtendedInformation);
        ulong max = NumberRange.MaxOf(parameter.ElementType);
        Assert.Contains($"Valid: 0 to {(parameter.Attribute.Kind == ParameterKind.Size ? SizeText.Exact(max) : $"{max}")}", error.ExtendedInformation);
        Assert.Contains(" Give ", error.ExtendedInformation);
    }
}
