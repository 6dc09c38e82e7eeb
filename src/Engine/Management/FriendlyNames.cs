using System.Globalization;
using System.Text;

namespace TierSpaces.Engine.Management;

/// <summary>
/// The rule for friendly names of pools, virtual disks, storage tiers and physical disks: 1 to 256 characters, at least one of them visible,
/// no control characters. Quotes, commas, wildcards and every other character are allowed.
/// </summary>
public static class FriendlyNames
{
    /// <summary>Longest name, in UTF-16 code units.</summary>
    public const int LengthMax = 256;

    /// <summary>Checks a friendly name.</summary>
    /// <param name="name">The name.</param>
    /// <param name="parameter">The parameter that gave it, without the dash.</param>
    /// <exception cref="ManagementException">The name is not valid.</exception>
    public static void Require(string name, string parameter)
    {
        string problem = Problem(name);
        if (problem.Length > 0)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter,
                $"-{parameter} {Shown(name)}: {problem}. Valid: 1 to {LengthMax} characters, at least one of them visible, no control characters.",
                "Choose another name.");
        }
    }

    /// <summary>Returns whether two names are the same; case does not count.</summary>
    internal static bool AreSame(string? a, string b) => string.Equals(a, b, StringComparison.OrdinalIgnoreCase);

    private static string Problem(string name) =>
        name.Length == 0 ? "is empty"
        : name.Length > LengthMax ? $"has {name.Length} characters"
        : name.Any(char.IsControl) ? "has control characters"
        : HasLoneSurrogate(name) ? "is not valid Unicode"
        : name.EnumerateRunes().All(IsInvisible) ? "is blank"
        : "";

    private static bool HasLoneSurrogate(string name)
    {
        for (int at = 0; at < name.Length; at += char.IsSurrogate(name[at]) ? 2 : 1)
        {
            if (char.IsSurrogate(name[at]) && !(at + 1 < name.Length && char.IsSurrogatePair(name[at], name[at + 1])))
            {
                return true;
            }
        }

        return false;
    }

    private static bool IsInvisible(Rune rune) => Rune.IsWhiteSpace(rune) || Rune.GetUnicodeCategory(rune) == UnicodeCategory.Format;

    /// <summary>The beginning of the name in quotes; a character that cannot be printed is shown as its number.</summary>
    private static string Shown(string name)
    {
        const int shown = 40;
        StringBuilder text = new("'");
        foreach (char c in name.Take(shown))
        {
            _ = char.IsControl(c) || char.IsSurrogate(c) && HasLoneSurrogate(name) ? text.Append($"\\u{(int)c:x4}") : text.Append(c);
        }

        return text.Append(name.Length > shown ? "…'" : "'").ToString();
    }
}
