using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

// A word that is no command. The answer is short, so that it can be read: what is wrong, the commands that are near, and where all of them are listed.
// A cmdlet of Windows that is not here is answered by its name, from the same table as in PowerShell.
// A verb is near if its noun is written almost so, or the whole of it; then one with the same noun and another verb helps too.

/// <summary>Answers a command that does not exist.</summary>
internal static class UnknownCommand
{
    private const int NearMost = 5;
    private const int EditsMost = 2;   // of a noun, or of a whole name

    /// <summary>Whether a word is meant as a command, not as an option, and is none of these.</summary>
    internal static bool Is(string word, IEnumerable<string> commands) => word.Length > 0 && char.IsLetter(word[0]) && !commands.Contains(word);

    /// <summary>Says so in at most three lines. Returns the exit code.</summary>
    internal static int Report(string word, TextWriter error)
    {
        if (AbsentCmdlets.Find(word) is { } absent)
        {
            error.WriteLine($"tierspaces: {absent.Answer}");
            return 1;
        }

        error.WriteLine($"tierspaces: '{word}' is not a command.");
        if (Near(word) is { Count: > 0 } near)
        {
            error.WriteLine($"Near: {string.Join(", ", near)}.");
        }

        error.WriteLine("'tierspaces --help' lists all commands.");
        return 1;
    }

    /// <summary>Returns the commands whose names are near to a word, the nearest first.</summary>
    internal static IReadOnlyList<string> Near(string word) =>
    [
        .. VerbDescription.All.Select(static verb => verb.Name).Concat(OwnCommands.Names)
            .Select(name => (Name: name, Distance: Distance(word, name)))
            .Where(static known => known.Distance < int.MaxValue)
            .OrderBy(static known => known.Distance).ThenBy(static known => known.Name, StringComparer.Ordinal)
            .Take(NearMost).Select(static known => known.Name),
    ];

    private static int Distance(string word, string name)
    {
        (string verb, string noun) = Parts(word);
        (string otherVerb, string otherNoun) = Parts(name);
        int whole = Edits(verb + noun, otherVerb + otherNoun);
        int ofNoun = noun.Length > 0 && otherNoun.Length > 0 ? Edits(noun, otherNoun) : int.MaxValue;
        return whole <= EditsMost ? whole : ofNoun <= EditsMost ? EditsMost + ofNoun + Edits(verb, otherVerb) : int.MaxValue;
    }

    private static (string Verb, string Noun) Parts(string name)
    {
        string[] parts = name.ToLowerInvariant().Split('-', 2);
        return (parts[0], parts.Length > 1 ? parts[1] : "");
    }

    /// <summary>Letters to be inserted, removed or exchanged until one word is the other.</summary>
    private static int Edits(string from, string to)
    {
        int[] row = [.. Enumerable.Range(0, to.Length + 1)];
        for (int i = 1; i <= from.Length; i++)
        {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.Length; j++)
            {
                int above = row[j];
                row[j] = Math.Min(Math.Min(above, row[j - 1]) + 1, diagonal + (from[i - 1] == to[j - 1] ? 0 : 1));
                diagonal = above;
            }
        }

        return row[^1];
    }
}
