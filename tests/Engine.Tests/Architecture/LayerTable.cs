namespace TierSpaces.Engine.Tests.Architecture;

/// <summary>Which layer may use which: the table of ARCHITECTURE.md. A layer may always use itself.</summary>
internal sealed class LayerTable(string rootNamespace, IReadOnlyDictionary<string, string[]> allowed)
{
    private static readonly string[] s_disks = ["Primitives", "Lanes"];
    private static readonly string[] s_journals = [.. s_disks, "Formats", "Devices"];
    private static readonly string[] s_pools = [.. s_journals, "Journals"];
    private static readonly string[] s_resiliency = [.. s_pools, "Pools", "Resiliency.Layouts"];
    private static readonly string[] s_caching = [.. s_resiliency, "Resiliency"];
    private static readonly string[] s_tiering = s_caching;
    private static readonly string[] s_virtualDisks = [.. s_caching, "Caching", "Tiering"];
    private static readonly string[] s_jobs = [.. s_virtualDisks, "VirtualDisks"];

    /// <summary>The engine's own table.</summary>
    internal static LayerTable Engine { get; } = new("TierSpaces.Engine", new Dictionary<string, string[]>
    {
        ["Primitives"] = [],
        ["Formats"] = ["Primitives"],
        ["Lanes"] = ["Primitives"],
        ["Devices"] = s_disks,
        ["Journals"] = s_journals,
        ["Pools"] = s_pools,
        ["Resiliency.Layouts"] = ["Primitives"],
        ["Resiliency"] = s_resiliency,
        ["Caching"] = s_caching,
        ["Tiering"] = s_tiering,
        ["VirtualDisks"] = s_virtualDisks,
        ["Exports"] = s_disks,
        ["Jobs"] = s_jobs,
        ["Verification"] = s_jobs,
        ["Management"] = [.. s_jobs, "Jobs", "Exports", "Verification"],
    });

    /// <summary>The layer a namespace belongs to, null outside the root, empty when the table does not know it.</summary>
    internal string? LayerOf(string @namespace)
    {
        if (@namespace == rootNamespace)
        {
            return string.Empty;
        }

        if (!@namespace.StartsWith(rootNamespace + ".", StringComparison.Ordinal))
        {
            return null;
        }

        string inner = @namespace[(rootNamespace.Length + 1)..];
        return allowed.Keys
            .Where(layer => inner == layer || inner.StartsWith(layer + ".", StringComparison.Ordinal))
            .MaxBy(layer => layer.Length) ?? string.Empty;
    }

    /// <summary>Whether <paramref name="user"/> may name a type of <paramref name="used"/>.</summary>
    internal bool Allows(string user, string used) => user == used || allowed[user].Contains(used);
}
