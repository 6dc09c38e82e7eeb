using System.Text;

namespace TierSpaces.Host.CommandLine;

/// <summary>
/// Lists as PowerShell writes them: items separated by commas; single or double quotes around an item keep its commas, a doubled
/// quote inside is one quote. Blanks around items do not count. A text without a comma is one item exactly as it is, quotes and blanks
/// included: a name means the same where a parameter takes one value and where it takes a list.
/// </summary>
internal static class ListText
{
    private const string Advice = "Put quotes around an item that has a comma or begins with a quote, and double the quotes inside it.";

    /// <summary>Takes a list apart.</summary>
    /// <exception cref="UsageException">A quote is not closed, or an item is empty.</exception>
    public static List<string> Split(string text)
    {
        if (!text.Contains(','))
        {
            return [text];
        }

        List<string> items = new List<string>();
        int at = 0;
        while (true)
        {
            items.Add(ReadItem(text, ref at));
            if (at >= text.Length)
            {
                return items;
            }

            at++;
        }
    }

    /// <summary>Writes an item so that <see cref="Split"/> returns it: in quotes where it has a comma.</summary>
    public static string Quote(string item) => item.Contains(',') ? $"'{item.Replace("'", "''")}'" : item;

    /// <summary>Whether a token can only be part of a list that goes on: it ends in a comma outside quotes.</summary>
    public static bool GoesOn(string token) => token.EndsWith(',');

    private static string ReadItem(string text, ref int at)
    {
        SkipBlanks(text, ref at);
        string item = at < text.Length && text[at] is '\'' or '"'
            ? ReadQuoted(text, ref at)
            : ReadPlain(text, ref at);
        SkipBlanks(text, ref at);
        if (at < text.Length && text[at] != ',')
        {
            throw new UsageException($"The list '{text}' has text between a closing quote and the next comma. {Advice}");
        }

        return item;
    }

    private static string ReadPlain(string text, ref int at)
    {
        int end = text.IndexOf(',', at);
        string item = (end < 0 ? text[at..] : text[at..end]).TrimEnd();
        at = end < 0 ? text.Length : end;
        return item.Length > 0 ? item : throw new UsageException($"The list '{text}' has an empty item. {Advice}");
    }

    private static string ReadQuoted(string text, ref int at)
    {
        char quote = text[at++];
        StringBuilder item = new StringBuilder();
        while (at < text.Length)
        {
            if (text[at] != quote)
            {
                item.Append(text[at++]);
            }
            else if (at + 1 < text.Length && text[at + 1] == quote)
            {
                item.Append(quote);
                at += 2;
            }
            else
            {
                at++;
                return item.ToString();
            }
        }

        throw new UsageException($"A quote in the list '{text}' is not closed. {Advice}");
    }

    private static void SkipBlanks(string text, ref int at)
    {
        while (at < text.Length && text[at] == ' ')
        {
            at++;
        }
    }
}
