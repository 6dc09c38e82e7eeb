using System.Reflection;

namespace TierSpaces.Acceptance;

/// <summary>The executable under test: what the build leaves for users, unless the one built beside the tests is newer.</summary>
internal static class Executable
{
    internal static string Path { get; } = Choose();

    /// <summary>Folder of the repository that the tests were built in.</summary>
    internal static string Repository => typeof(Executable).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
        .First(attribute => attribute.Key == "RepositoryRoot").Value!;

    private static string Choose()
    {
        string shipped = System.IO.Path.Combine(Repository, "bin", "host");
        return WhenBuilt(shipped) >= WhenBuilt(AppContext.BaseDirectory)
            ? System.IO.Path.Combine(shipped, "tierspaces")
            : System.IO.Path.Combine(AppContext.BaseDirectory, "tierspaces");
    }

    private static DateTime WhenBuilt(string folder) =>
        new[] { "tierspaces.dll", "TierSpaces.Engine.dll", "TierSpaces.Contracts.dll" }
            .Min(file => File.GetLastWriteTimeUtc(System.IO.Path.Combine(folder, file)));
}
