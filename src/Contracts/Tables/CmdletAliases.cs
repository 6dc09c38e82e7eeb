namespace TierSpaces.Contracts;

// Windows' storage module exports aliases of some cmdlets, and scripts use them. Module and command line take these names from this table. Aliases of cmdlets
// that are not here are rows of AbsentCmdlets.

/// <summary>Table of the aliases that Windows has for cmdlets of this version.</summary>
public static class CmdletAliases
{
    private static readonly Dictionary<string, string> s_verbs = new(StringComparer.OrdinalIgnoreCase)
    {
        ["Flush-Volume"] = "Write-VolumeCache",
        ["Initialize-Volume"] = "Format-Volume",
        ["Write-FileSystemCache"] = "Write-VolumeCache",
    };

    /// <summary>Every alias with the cmdlet that it names.</summary>
    public static IReadOnlyDictionary<string, string> All => s_verbs;

    /// <summary>Returns the cmdlet that an alias names in any case; any other name as it is.</summary>
    public static string Resolve(string name) => s_verbs.GetValueOrDefault(name, name);

    /// <summary>Returns the aliases of a cmdlet, in order.</summary>
    public static IEnumerable<string> Of(string cmdlet) =>
        s_verbs.Where(pair => pair.Value.Equals(cmdlet, StringComparison.OrdinalIgnoreCase)).Select(static pair => pair.Key).Order(StringComparer.Ordinal);
}
