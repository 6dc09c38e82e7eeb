namespace TierSpaces.Engine.Tests.Architecture;

/// <summary>The source that the tests were built from.</summary>
internal static class SourceTree
{
    /// <summary>Folder of the solution.</summary>
    internal static string Root()
    {
        string folder = AppContext.BaseDirectory;
        while (!Path.Exists(Path.Combine(folder, "TierSpaces.slnx")))
        {
            folder = Path.GetDirectoryName(folder) ?? throw new InvalidOperationException("TierSpaces.slnx is in no folder above the tests.");
        }

        return folder;
    }

    /// <summary>Files of the product in C#, without what a build writes.</summary>
    internal static IEnumerable<string> ProductFiles() =>
        Directory.EnumerateFiles(Path.Combine(Root(), "src"), "*.cs", SearchOption.AllDirectories)
            .Where(static file => !file.Contains($"{Path.DirectorySeparatorChar}obj{Path.DirectorySeparatorChar}", StringComparison.Ordinal));
}
