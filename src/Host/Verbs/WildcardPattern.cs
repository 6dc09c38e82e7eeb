using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs;

/// <summary>
/// PowerShell's wildcards: <c>*</c> any text, <c>?</c> one character, <c>[a-z]</c> one of a set, a back-tick takes the next character literally. Case
/// does not count. With any pattern, a text is judged in at most (length of the pattern) × (length of the text) steps: after a mismatch only the last
/// <c>*</c> takes more, never one before it.
/// </summary>
internal sealed class WildcardPattern
{
    private readonly List<Part> _parts = [];

    /// <summary>Reads a pattern.</summary>
    /// <exception cref="StorageException">A set in it runs backwards.</exception>
    public WildcardPattern(string pattern)
    {
        for (int at = 0; at < pattern.Length; at++)
        {
            _parts.Add(Read(pattern, ref at));
        }
    }

    private enum Kind
    {
        One,
        Set,
        Any,
        AnyText,
    }

    /// <summary>Whether anything in it is a wildcard; else it names one thing exactly.</summary>
    public bool HasWildcards => _parts.Exists(part => part.Kind != Kind.One);

    /// <summary>Whether a text fits.</summary>
    public bool Fits(string text)
    {
        int at = 0, part = 0, star = -1, from = 0;
        while (at < text.Length)
        {
            if (part < _parts.Count && _parts[part].Kind == Kind.AnyText)
            {
                (star, from) = (part++, at);
            }
            else if (part < _parts.Count && _parts[part].Takes(text[at]))
            {
                part++;
                at++;
            }
            else if (star >= 0)
            {
                (part, at) = (star + 1, ++from);
            }
            else
            {
                return false;
            }
        }

        return _parts.Skip(part).All(rest => rest.Kind == Kind.AnyText);
    }

    private static Part Read(string pattern, ref int at)
    {
        int close = pattern[at] == '[' ? pattern.IndexOf(']', at + 1) : -1;
        switch (pattern[at])
        {
            case '`' when at + 1 < pattern.Length:
                return new Part(Kind.One, Fold(pattern[++at]), null);
            case '*':
                return new Part(Kind.AnyText, '*', null);
            case '?':
                return new Part(Kind.Any, '?', null);
            case '[' when close > at + 1:
                (char First, char Last)[] set = SetOf(pattern, pattern.AsSpan(at + 1, close - at - 1));
                at = close;
                return new Part(Kind.Set, '[', set);
            default:
                return new Part(Kind.One, Fold(pattern[at]), null);
        }
    }

    /// <summary>Its ranges as pairs of first and last, each character a range of its own where no dash joins it to another.</summary>
    private static (char First, char Last)[] SetOf(string pattern, ReadOnlySpan<char> set)
    {
        List<(char, char)> ranges = new List<(char, char)>();
        for (int at = 0; at < set.Length; at++)
        {
            bool isRange = at + 2 < set.Length && set[at + 1] == '-';
            (char first, char last) = (set[at], isRange ? set[at + 2] : set[at]);
            ranges.Add(first <= last ? (first, last) : throw new StorageException(
                StorageErrors.InvalidParameter, $"'{pattern}' is no wildcard pattern: the set from {first} to {last} is empty.",
                "Put ` before a [ that means itself.", pattern));
            at += isRange ? 2 : 0;
        }

        return [.. ranges];
    }

    private static char Fold(char c) => char.ToUpperInvariant(c);

    private sealed record Part(Kind Kind, char Character, (char First, char Last)[]? Set)
    {
        public bool Takes(char c) => Kind switch
        {
            Kind.One => Fold(c) == Character,
            Kind.Set => Array.Exists(Set!, range => IsIn(c, range) || IsIn(char.ToUpperInvariant(c), range) || IsIn(char.ToLowerInvariant(c), range)),
            _ => true,
        };

        private static bool IsIn(char c, (char First, char Last) range) => c >= range.First && c <= range.Last;
    }
}
