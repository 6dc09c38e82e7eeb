using System.Text;
using System.Text.RegularExpressions;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs;

/// <summary>
/// PowerShell's wildcards: <c>*</c> any text, <c>?</c> one character, <c>[a-z]</c> one of a set, a back-tick takes the next
/// character literally. Case does not count.
/// </summary>
internal sealed class WildcardPattern
{
    private readonly Regex? regex;
    private readonly string literal;

    /// <summary>Reads a pattern.</summary>
    public WildcardPattern(string pattern)
    {
        var expression = new StringBuilder("^");
        var plain = new StringBuilder();
        for (var at = 0; at < pattern.Length; at++)
        {
            Append(pattern, ref at, expression, plain);
        }

        literal = plain.ToString();
        regex = HasWildcards ? Compile(pattern, expression.Append('$').ToString()) : null;
    }

    /// <summary>Whether anything in it is a wildcard; else it names one thing exactly.</summary>
    public bool HasWildcards { get; private set; }

    /// <summary>Whether a text fits.</summary>
    public bool Fits(string text) => regex?.IsMatch(text) ?? literal.Equals(text, StringComparison.OrdinalIgnoreCase);

    private static Regex Compile(string pattern, string expression)
    {
        try
        {
            return new Regex(expression, RegexOptions.IgnoreCase | RegexOptions.CultureInvariant | RegexOptions.Singleline);
        }
        catch (RegexParseException e)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, $"'{pattern}' is no wildcard pattern.", "Put ` before a [ that means itself.",
                pattern, e);
        }
    }

    private void Append(string pattern, ref int at, StringBuilder expression, StringBuilder plain)
    {
        var close = pattern[at] == '[' ? pattern.IndexOf(']', at + 1) : -1;
        switch (pattern[at])
        {
            case '`' when at + 1 < pattern.Length:
                plain.Append(pattern[++at]);
                expression.Append(Regex.Escape(pattern[at].ToString()));
                break;
            case '*' or '?':
                HasWildcards = true;
                expression.Append(pattern[at] == '*' ? ".*" : ".");
                break;
            case '[' when close > at + 1:
                HasWildcards = true;
                expression.Append('[').Append(EscapeSet(pattern[(at + 1)..close])).Append(']');
                at = close;
                break;
            default:
                plain.Append(pattern[at]);
                expression.Append(Regex.Escape(pattern[at].ToString()));
                break;
        }
    }

    private static string EscapeSet(string set) => set.Replace("\\", "\\\\").Replace("^", "\\^").Replace("[", "\\[");
}
