using TierSpaces.Contracts;
using TierSpaces.Host.CommandLine;

namespace TierSpaces.Host;

/// <summary>The executable: a verb if the first word is one, else one of its own commands.</summary>
internal static class Program
{
    private static Task<int> Main(string[] words)
    {
        if (words.Length == 0 || VerbDescription.Find(words[0]) is not { } verb)
        {
            return OwnCommands.RunAsync(words);
        }

        string[] rest = words[1..];
        if (rest.Any(word => word.ToLowerInvariant() is "--help" or "-help" or "-h" or "-?" or "/?"))
        {
            VerbHelp.Print(verb, Console.Out);
            return Task.FromResult(0);
        }

        return new VerbCommand(verb, Console.In, Console.Out, Console.Error).RunAsync(rest);
    }
}
