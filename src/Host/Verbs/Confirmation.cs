using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs;

/// <summary>
/// Limits a verb that destroys, when no person could be asked, to one object that is named exactly. A wildcard that a person meant for something
/// else, or a name that two pools have, would otherwise destroy unseen.
/// </summary>
internal static class Confirmation
{
    private const int NamesMax = 8;

    /// <summary>Refuses an unconfirmed request that selects by a wildcard or selects more than one object.</summary>
    /// <param name="request">The request.</param>
    /// <param name="selected">Names of the objects that it selects.</param>
    /// <param name="selectors">Its selecting parameters with what was given to them; the first that was given counts.</param>
    /// <exception cref="StorageException">It is such a request; nothing was changed.</exception>
    public static void Require(
        StorageRequest request, IReadOnlyCollection<string> selected, params (string Parameter, string[]? Texts)[] selectors)
    {
        (string? parameter, string[]? texts) = selectors.FirstOrDefault(selector => selector.Texts is not null, ("", []));
        bool isPattern = texts!.Any(text => new WildcardPattern(text).HasWildcards && !selected.Contains(text, StringComparer.OrdinalIgnoreCase));
        if (!request.Unconfirmed || (!isPattern && selected.Count <= 1))
        {
            return;
        }

        string names = string.Join(", ", selected.Take(NamesMax)) + (selected.Count > NamesMax ? $" and {selected.Count - NamesMax} more" : "");
        throw new StorageException(
            StorageErrors.InvalidParameter,
            $"-{parameter} '{string.Join(",", texts!)}' selects {(selected.Count == 0 ? "nothing" : names)}, and no confirmation can be asked for without a terminal. "
            + "Valid: the exact name of one object.",
            "Give -Confirm:false to do it all the same.", parameter);
    }
}
