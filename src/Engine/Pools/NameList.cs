namespace TierSpaces.Engine.Pools;

/// <summary>Names of several objects in one sentence.</summary>
internal static class NameList
{
    /// <summary>Most names that a sentence has.</summary>
    internal const int Most = 4;

    /// <summary>Returns the names one after the other; of those beyond <see cref="Most"/> their number.</summary>
    internal static string Of(IReadOnlyCollection<string> names) =>
        string.Join(", ", names.Take(Most)) + (names.Count > Most ? $" and {names.Count - Most} more" : "");
}
