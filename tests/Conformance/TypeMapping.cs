namespace TierSpaces.Conformance;

/// <summary>
/// Documented types and their counterparts here. Objects are PSObject with a checked type name, enumerations are ours, and several
/// enumerations share the documented name Usage: which one it is follows from the noun.
/// </summary>
internal static class TypeMapping
{
    private const string Contracts = "TierSpaces.Contracts.";

    private static readonly Dictionary<string, string> s_types = new()
    {
        ["Boolean"] = "System.Boolean",
        ["Char"] = "System.String",   // a drive letter, of which there are none here
        ["String"] = "System.String",
        ["UInt16"] = "System.UInt16",
        ["UInt32"] = "System.UInt32",
        ["UInt64"] = "System.UInt64",
        ["SwitchParameter"] = "System.Management.Automation.SwitchParameter",
        ["CimInstance"] = "System.Management.Automation.PSObject",
        ["JobState"] = Contracts + "StorageJobState",   // a shell has a JobState of its own
        ["PhysicalDiskHealthStatus"] = Contracts + "HealthStatus",
        ["PSReference"] = "System.String",   // refused
        ["Uri"] = "System.String",   // refused
        ["Version"] = "System.String",
    };

    // Parameters whose position a number can have too: PowerShell converts each number to a PSObject, and then finds it of the wrong class.
    private static readonly (string Cmdlet, string Parameter)[] s_beside = [("New-Volume", "StoragePool"), ("New-Volume", "Disk")];

    /// <summary>Full name of the type that a documented one is here.</summary>
    internal static string Of(string cmdlet, string parameter, string documented)
    {
        if (documented == "CimInstance" && s_beside.Contains((cmdlet, parameter)))
        {
            return $"TierSpaces.Cmdlets.{parameter}Argument";
        }

        string list = documented.EndsWith("[]", StringComparison.Ordinal) ? "[]" : "";
        string element = documented[..^list.Length];
        return (element == "Usage" ? Contracts + Usage(cmdlet)
            : element == "OperationalStatus" && cmdlet == "Get-StorageNode" ? Contracts + "StorageNodeOperationalStatus"
            : s_types.GetValueOrDefault(element, Contracts + element)) + list;
    }

    private static string Usage(string cmdlet) => cmdlet.Split('-')[1] + "Usage";
}
