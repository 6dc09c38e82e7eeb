using System.Globalization;
using System.Text.RegularExpressions;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Sizes that validation errors name.</summary>
internal static partial class NamedSize
{
    /// <summary>Returns the bytes of the largest size that a message names ("at most 7 MB with", "is more than 20 PB, the largest"), or -1.</summary>
    internal static long Largest(string message)
    {
        Match size = Text().Match(message);
        if (!size.Success)
        {
            return -1;
        }

        string number = size.Groups["bytes"].Success ? size.Groups["bytes"].Value : size.Groups["number"].Value;
        int power = size.Groups["bytes"].Success ? 0 : Math.Max(0, "BKMGTP".IndexOf(size.Groups["unit"].Value[0], StringComparison.Ordinal));
        return (long)(decimal.Parse(number, CultureInfo.InvariantCulture) * (1L << (10 * power)));
    }

    [GeneratedRegex(@"(?:at most|is more than) (?<number>[0-9.]+) (?<unit>bytes?|[KMGTP]B)(?: \((?<bytes>[0-9]+) bytes\))?")]
    private static partial Regex Text();
}
