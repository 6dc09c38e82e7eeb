using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes;

/// <summary>Drive letters: A to Z, each at most once on a host. A letter is the name of a folder below the volume root.</summary>
internal static class DriveLetter
{
    private const string Assigned = "DEFGHIJKLMNOPQRSTUVWXYZ";   // those before D are never assigned by themselves

    /// <summary>Returns the letter that a text means: <c>E</c>, <c>e</c>, <c>E:</c> or <c>E:\</c>.</summary>
    /// <param name="text">The text.</param>
    /// <param name="parameter">Parameter that gave it, for the error.</param>
    /// <exception cref="StorageException">It is no letter from A to Z.</exception>
    public static string Parse(string text, string parameter) => TryParse(text) ?? throw new StorageException(
        StorageErrors.InvalidParameter, $"-{parameter} '{text}': is no drive letter. Valid: A to Z.", "Give one letter.", parameter);

    /// <summary>The same; null for a text that is no letter.</summary>
    public static string? TryParse(string text) =>
        text.TrimEnd('\\', '/').TrimEnd(':') is [var letter] && char.IsAsciiLetter(letter) ? char.ToUpperInvariant(letter).ToString() : null;

    /// <summary>Whether a text has the form of a drive letter with a colon, as access paths have it: <c>E:</c>.</summary>
    public static bool IsRoot(string text) => text.Contains(':', StringComparison.Ordinal) && TryParse(text) is not null;

    /// <summary>Returns the first letter from D on that is not in use.</summary>
    /// <exception cref="StorageException">All are.</exception>
    public static string FirstFree(IEnumerable<string> used) =>
        Assigned.Select(static letter => letter.ToString()).Except(used).FirstOrDefault() ?? throw new StorageException(
            StorageErrors.AccessPathInUse, "-AssignDriveLetter: every drive letter from D to Z is in use.",
            "Remove one with Remove-PartitionAccessPath, or give an access path.", "AssignDriveLetter");
}
