namespace TierSpaces.Bench;

/// <summary>Where the repository is that this program was built in.</summary>
internal static class Repository
{
    /// <exception cref="IOException">The program does not run from its place there.</exception>
    internal static string Root()
    {
        for (string? folder = AppContext.BaseDirectory; folder is not null; folder = Path.GetDirectoryName(folder))
        {
            if (File.Exists(Path.Combine(folder, "TierSpaces.slnx")))
            {
                return folder;
            }
        }

        throw new IOException("The benchmarks run from their place in the repository: ./build.sh Bench, ./build.sh Experiment.");
    }
}
