using System.Globalization;

namespace TierSpaces.Engine.Primitives;

/// <summary>Numbers of things in messages.</summary>
public static class CountText
{
    /// <summary>Returns a number with its noun: 1 disk, 2 disks, 0 disks.</summary>
    /// <param name="count">The number.</param>
    /// <param name="one">The noun, in the singular; its plural ends in s.</param>
    public static string Of(long count, string one) => string.Create(CultureInfo.InvariantCulture, $"{count} {one}{(count == 1 ? "" : "s")}");
}
