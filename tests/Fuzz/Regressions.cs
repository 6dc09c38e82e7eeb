namespace TierSpaces.Fuzz;

/// <summary>Inputs that failed once.</summary>
internal static class Regressions
{
    /// <summary>Inputs of a target.</summary>
    internal static IEnumerable<byte[]> Of(FuzzTarget target) => Lines()
        .Select(static line => line.Split(' ', 3)).Where(parts => parts[0] == target.Name).Select(static parts => Convert.FromBase64String(parts[1]));

    private static IEnumerable<string> Lines()
    {
        using StreamReader reader = new(typeof(Regressions).Assembly.GetManifestResourceStream("TierSpaces.Fuzz.Regressions.txt")!);
        return reader.ReadToEnd().Split('\n').Where(static line => line.Length > 0 && line[0] != '#');
    }
}
