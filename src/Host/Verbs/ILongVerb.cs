namespace TierSpaces.Host.Verbs;

/// <summary>
/// Marks a handler whose verb starts a job and waits for its end, perhaps for hours. It does not hold up the verbs that come after it:
/// what it changes at once, the engine itself does one after the other.
/// </summary>
internal interface ILongVerb;
