using TierSpaces.Contracts;

namespace TierSpaces.Conformance;

/// <summary>Every cmdlet's declaration against the documented syntax.</summary>
public sealed class SyntaxTests
{
    private static readonly string[] s_range = ["VirtualDiskFriendlyName", "VirtualDiskUniqueId", "VirtualDisk", "Offset", "Length"];

    // Beyond the documented syntax: what is asked for here, and marked as ours in the help.
    private static readonly Dictionary<string, string[]> s_ours = new()
    {
        ["Clear-FileStorageTier"] = ["InputObject", .. s_range],
        ["Connect-VirtualDisk"] = ["AttachMethod", "Force", "Lane", "ListenAddress", "TlsCertificatePath"],
        ["Disconnect-VirtualDisk"] = ["Force"],
        ["Get-FileStorageTier"] = s_range,
        ["Get-PhysicalExtent"] = ["Tier"],
        ["New-VirtualDisk"] = ["LogicalSectorSize", "Checksum", "SliceSize", "CachePool"],
        ["Reset-PhysicalDisk"] = ["Path"],
        ["Set-FileStorageTier"] = ["Now", .. s_range],
        ["Set-PhysicalDisk"] = ["EnclosureNumber", "SlotNumber", "StorageChassisId", "StorageRackId"],
        ["Set-StoragePool"] = ["WitnessPath", "ScrubIntervalDays", "LentWriteCacheSizeMax"],
        ["Repair-VirtualDisk"] = ["Force"],
        ["Update-StoragePool"] = ["Force"],
        ["Set-VirtualDisk"] =
            ["WriteCacheSize", "DestageStart", "DestageStop", "DestageIdle", "DestageBytesPerSecond", "DestageHold", "DestageHoldUntil",
                "MinimumHeat", "DemoteColdAfter", "HeatHalfLife"],
    };

    // Documented with one set, which has no name. Beside sets of ours it needs one.
    internal static Dictionary<string, string> Named { get; } = new() { ["Clear-FileStorageTier"] = "ByFilePath" };

    // Documented to return storage providers, which are no objects here.
    private static readonly string[] s_withoutObjects = ["Update-StorageProviderCache"];

    private static readonly string[] s_common = ["AsJob", "CimSession", "ThrottleLimit"];

    public static TheoryData<string> Cmdlets => [.. Documented.Cmdlets.Keys.Order()];

    public static TheoryData<string, string> Parameters =>
        [.. Documented.Cmdlets.SelectMany(c => c.Value.Parameters.Keys.Select(p => (c.Key, p)))];

    [Theory]
    [MemberData(nameof(Cmdlets))]
    public void Cmdlet_is_declared_as_documented(string name)
    {
        DocumentedCmdlet documented = Documented.Cmdlets[name];
        CompiledCmdlet compiled = CompiledCmdlets.All[name];

        Assert.Equal(documented.DefaultSet, compiled.DefaultSet);
        Assert.Equal(AllSets(name), compiled.Sets.Except(OurSets(name)).Union(EmptySet(documented)).Order());
        IEnumerable<string> outputs = documented.Outputs.Where(o => o != "None" && !s_withoutObjects.Contains(name)).Select(o => Output(name, o)).Distinct();
        Assert.Equal(outputs, documented.Outputs is [] or ["None"] ? [] : compiled.Outputs);
        Assert.All(documented.Common.Except(["WhatIf", "Confirm"]), common => Assert.Contains(compiled.Parameters, p => p.Name == common));
        Assert.True(compiled.ShouldProcess || !documented.ShouldProcess, "-WhatIf and -Confirm are missing.");
    }

    [Fact]
    public void A_cmdlet_that_writes_no_objects_declares_none() =>
        Assert.All(VerbDescription.All, verb => Assert.Equal(verb.Verb.ReturnsNothing, CompiledCmdlets.All[verb.Name].Outputs.Length == 0));

    [Theory]
    [MemberData(nameof(Parameters))]
    public void Parameter_is_declared_as_documented(string cmdlet, string name)
    {
        DocumentedParameter documented = Documented.Cmdlets[cmdlet].Parameters[name];
        CompiledParameter compiled = Assert.Single(CompiledCmdlets.All[cmdlet].Parameters, p => p.Name == name);
        string[] sets = documented.Sets.Length > 0 ? documented.Sets : OurSets(cmdlet).Any() ? [.. AllSets(cmdlet)] : [CompiledParameter.AllSets];

        Assert.Equal(TypeMapping.Of(cmdlet, name, documented.Type), compiled.Type);
        Assert.Equal(documented.Aliases.Order(), compiled.Aliases.Order());
        Assert.Equal(documented.Values.Order(), documented.Values.Length > 0 ? compiled.Values.Order() : []);
        Assert.Equal(documented.Type.StartsWith("CimInstance", StringComparison.Ordinal), compiled.ObjectType is not null);
        Assert.Subset(new HashSet<string>(compiled.Bindings.Keys), new HashSet<string>(sets));
        Assert.All(sets, set => Assert.Equal(
            new Binding(documented.Required, documented.Position, documented.Pipeline), compiled.Bindings[set]));
        Assert.Empty(compiled.Bindings.Keys.Except(sets).Except(OurSets(cmdlet))
            .Except(UndocumentedSets(Documented.Cmdlets[cmdlet])).Except(EmptySet(Documented.Cmdlets[cmdlet])));
    }

    [Theory]
    [MemberData(nameof(Cmdlets))]
    public void Nothing_is_declared_beyond_the_documented_and_ours(string name)
    {
        IEnumerable<string> known =
            [.. Documented.Cmdlets[name].Parameters.Keys, .. s_common, .. s_ours.GetValueOrDefault(name, [])];

        Assert.Empty(CompiledCmdlets.All[name].Parameters.Select(p => p.Name).Except(known));
    }

    [Theory]
    [MemberData(nameof(Cmdlets))]
    public void A_documented_prefix_of_two_letters_stays_unambiguous(string name)
    {
        string[] documented = [.. Documented.Cmdlets[name].Parameters.SelectMany(p => (string[])[p.Key, .. p.Value.Aliases])];
        string[] declared = [.. CompiledCmdlets.All[name].Parameters.SelectMany(p => (string[])[p.Name, .. p.Aliases])];
        string[] added = [.. declared.Except(documented).Except(Documented.Cmdlets[name].Common).Except(["Session"])];   // of CimSession

        IEnumerable<string> broken = documented
            .SelectMany(p => Enumerable.Range(2, p.Length - 2).Select(length => p[..length]))
            .Where(prefix => documented.Count(p => Starts(p, prefix)) == 1 && added.Any(p => Starts(p, prefix)));

        Assert.Empty(broken);
    }

    private static bool Starts(string name, string prefix) => name.StartsWith(prefix, StringComparison.OrdinalIgnoreCase);

    // Without the namespace: with it PowerShell looks for the class in the CIM repository when properties are to be completed, and fails
    // where there is none.
    private static string Output(string cmdlet, string documented) => documented switch
    {
        "PhysicalExtent" => "Microsoft.Management.Infrastructure.CimInstance#MSFT_PhysicalExtent",
        "System.Management.Automation.PSCustomObject" => cmdlet == "Get-StorageTierSupportedSize" ? "TierSpaces.StorageTierSupportedSize"
            : "TierSpaces.SupportedSize",
        "MSFT_FileStorageTier" => "Microsoft.Management.Infrastructure.CimInstance#MSFT_FileStorageTier",
        "MSFT_StorageTier" => "Microsoft.Management.Infrastructure.CimInstance#MSFT_StorageTier",
        _ when cmdlet == "Get-StorageFaultDomain" => "Microsoft.Management.Infrastructure.CimInstance#MSFT_StorageFaultDomain",   // the base of all of them
        "MSFT_StorageEnclosure[]" or "MSFT_StorageNode[]" => $"Microsoft.Management.Infrastructure.CimInstance#{documented[..^2]}",
        _ => documented.Replace("ROOT/Microsoft/Windows/Storage/", "", StringComparison.OrdinalIgnoreCase),
    };

    private static IEnumerable<string> AllSets(string cmdlet) => Documented.Cmdlets[cmdlet].Sets
        .Select(set => set == "(unnamed)" ? Named.GetValueOrDefault(cmdlet) : set).OfType<string>().Union(UndocumentedSets(Documented.Cmdlets[cmdlet]))
            .Order();

    // Sets that cannot be chosen without a parameter of ours.
    private static IEnumerable<string> OurSets(string cmdlet) => CompiledCmdlets.All[cmdlet].Parameters
        .Where(parameter => s_ours.GetValueOrDefault(cmdlet, []).Contains(parameter.Name))
        .SelectMany(parameter => parameter.Bindings.Where(binding => binding.Value.Required).Select(binding => binding.Key)).Distinct();

    // A default set without a documented parameter of its own: a cmdlet need not mention it, and may put parameters of several sets into it, which
    // a shell could not tell apart by them alone.
    private static IEnumerable<string> EmptySet(DocumentedCmdlet cmdlet) => cmdlet.Sets.Where(set =>
        set == cmdlet.DefaultSet && cmdlet.Parameters.Values.All(p => !p.Sets.Contains(set)));

    private static IEnumerable<string> UndocumentedSets(DocumentedCmdlet cmdlet) =>
        cmdlet.Parameters.Values.Where(p => p.Undocumented).SelectMany(p => p.Sets).Distinct();
}
