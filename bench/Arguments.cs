using System.Globalization;

namespace TierSpaces.Bench;

/// <summary>Options of the form <c>--name value</c> or <c>-Name value</c>, sizes may end in K, M or G; and switches of the form <c>-Name</c>.</summary>
internal sealed class Arguments
{
    private readonly Dictionary<string, string> _values = new(StringComparer.OrdinalIgnoreCase);
    private readonly HashSet<string> _flags = new(StringComparer.OrdinalIgnoreCase);

    internal Arguments(string[] args)
    {
        for (int i = 0; i < args.Length; i++)
        {
            if (args[i] is ['-', not '-', ..] && i + 1 < args.Length && args[i + 1] is [not '-', ..])
            {
                _values[args[i][1..]] = args[++i];
                continue;
            }

            if (args[i] is ['-', not '-', ..])
            {
                _flags.Add(args[i][1..]);
                continue;
            }

            if (!args[i].StartsWith("--", StringComparison.Ordinal) || i + 1 == args.Length)
            {
                throw new ArgumentException($"'{args[i]}' is not an option with a value.");
            }

            _values[args[i][2..]] = args[++i];
        }
    }

    internal bool Flag(string name) => _flags.Remove(name);

    internal string Text(string name, string? otherwise = null) =>
        _values.Remove(name, out string? value) ? value : otherwise ?? throw new ArgumentException($"--{name} is needed.");

    internal long Number(string name, long otherwise, long least, long most)
    {
        string text = Text(name, otherwise.ToString(CultureInfo.InvariantCulture));
        int shift = text.Length == 0 ? 0 : "KMG".IndexOf(char.ToUpperInvariant(text[^1])) switch { 0 => 10, 1 => 20, 2 => 30, _ => 0 };
        string digits = shift == 0 ? text : text[..^1];
        return long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out long value)
            && value <= most >> shift && value << shift >= least
            ? value << shift
            : throw new ArgumentException($"--{name} is '{text}'; it may be {least} to {most}.");
    }

    internal void ThrowIfUnused()
    {
        if (_values.Keys.Select(name => $"--{name}").Concat(_flags.Select(name => $"-{name}")).FirstOrDefault() is { } unknown)
        {
            throw new ArgumentException($"{unknown} is not an option of this command.");
        }
    }
}
