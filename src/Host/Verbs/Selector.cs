using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs;

/// <summary>
/// Selects objects by their names, in one place for every verb: by a property (exact text or wildcards, case does not count), or as an object
/// reference (unique identifier first, else friendly name). A text that is the whole value of an object means that object, even if the text has
/// wildcards (only stars are always a wildcard). An exact text that fits nothing is an error; a wildcard that fits nothing is not.
/// </summary>
/// <typeparam name="T">Kind of the objects.</typeparam>
/// <param name="windowsClass">Their class, for the message.</param>
/// <param name="all">Every object there is.</param>
/// <param name="idOf">Unique identifier of one.</param>
/// <param name="nameOf">Friendly name of one.</param>
internal sealed class Selector<T>(string windowsClass, IReadOnlyCollection<T> all, Func<T, string> idOf, Func<T, string> nameOf)
    where T : class
{
    /// <summary>Name of the property that identifies an object everywhere.</summary>
    public const string UniqueId = "UniqueId";

    /// <summary>Name of the property people use.</summary>
    public const string FriendlyName = "FriendlyName";

    /// <summary>Every object there is.</summary>
    public IReadOnlyCollection<T> All => all;

    /// <summary>Unique identifier of one; the name that no user gave is the same.</summary>
    public Func<T, string> IdOf => idOf;

    /// <summary>Objects whose friendly name fits, in the order they were named, each once.</summary>
    /// <param name="patterns">Texts or wildcards.</param>
    /// <param name="fail">Takes the error of each text that fits nothing.</param>
    public List<T> ByFriendlyName(IEnumerable<string> patterns, Action<StorageErrorInfo> fail) =>
        By(FriendlyName, nameOf, patterns, fail);

    /// <summary>Objects whose unique identifier fits.</summary>
    public List<T> ByUniqueId(IEnumerable<string> patterns, Action<StorageErrorInfo> fail) => By(UniqueId, idOf, patterns, fail);

    /// <summary>Objects that a property of theirs fits.</summary>
    public List<T> By(string property, Func<T, string> valueOf, IEnumerable<string> patterns, Action<StorageErrorInfo> fail)
    {
        List<T> found = new List<T>();
        foreach (string pattern in patterns)
        {
            Collect(property, pattern, Fitting(pattern, valueOf), found, fail);
        }

        return found;
    }

    /// <summary>
    /// Objects that were passed as such: each reference is a unique identifier, or a friendly name with wildcards. One in the form of an identifier is not
    /// found by its unique identifier, any other one by its friendly name.
    /// </summary>
    public List<T> ByReference(IEnumerable<string> references, Action<StorageErrorInfo> fail)
    {
        List<T> found = new List<T>();
        foreach (string reference in references)
        {
            T? exact = all.FirstOrDefault(item => idOf(item).Equals(reference, StringComparison.OrdinalIgnoreCase));
            Collect(Guid.TryParse(reference, out _) ? UniqueId : FriendlyName, reference, exact is null ? Fitting(reference, nameOf) : [exact], found, fail);
        }

        return found;
    }

    /// <summary>
    /// Objects by whichever of the usual selectors was given: friendly name, unique identifier, name, or the objects themselves.
    /// Every object when none was.
    /// </summary>
    public List<T> Select(
        string[]? friendlyNames, string[]? uniqueIds, string[]? names, string[]? references, Action<StorageErrorInfo> fail) =>
        friendlyNames is not null ? ByFriendlyName(friendlyNames, fail)
        : uniqueIds is not null ? ByUniqueId(uniqueIds, fail)
        : names is not null ? By("Name", nameOf, names, fail)
        : references is not null ? ByReference(references, fail)
        : [.. all];

    /// <summary>The same for parameters that take one text.</summary>
    public List<T> Select(string? friendlyName, string? uniqueId, string? name, string[]? references, Action<StorageErrorInfo> fail) =>
        Select(ListOf(friendlyName), ListOf(uniqueId), ListOf(name), references, fail);

    /// <summary>Objects that were passed as such; every object when none was.</summary>
    public List<T> Select(string[]? references, Action<StorageErrorInfo> fail) =>
        references is null ? [.. all] : ByReference(references, fail);

    /// <summary>The one object that the selectors mean.</summary>
    /// <exception cref="StorageException">None does, or several do.</exception>
    public T SelectOne(string? friendlyName, string? uniqueId, string? name, string? reference)
    {
        StorageErrorInfo? error = null;
        List<T> found = Select(friendlyName, uniqueId, name, ListOf(reference), e => error = e);
        (string property, string text) = friendlyName is not null ? (FriendlyName, friendlyName)
            : uniqueId is not null ? (UniqueId, uniqueId) : name is not null ? ("Name", name) : (FriendlyName, reference ?? "");
        return error is null ? Only(found, property, text) : throw new StorageException(error);
    }

    /// <summary>The one object a reference means.</summary>
    /// <exception cref="StorageException">None fits, or several do.</exception>
    public T One(string reference) => SelectOne(null, null, null, reference);

    private T Only(List<T> found, string property, string text) => found switch
    {
        [var one] => one,
        [] => throw StorageException.NotFound(windowsClass, property, text),
        _ => throw new StorageException(
            StorageErrors.InvalidParameter,
            $"'{text}' fits {found.Count} {windowsClass} objects: {string.Join(", ", found.Select(nameOf))}.",
            "Name one of them, by unique identifier where names are equal.", text),
    };

    private static string[]? ListOf(string? text) => text is null ? null : [text];

    private T[] Fitting(string text, Func<T, string> valueOf)
    {
        T[] exact = text.All(static c => c == '*') ? [] : [.. all.Where(item => valueOf(item).Equals(text, StringComparison.OrdinalIgnoreCase))];
        if (exact.Length > 0)
        {
            return exact;
        }

        WildcardPattern pattern = new WildcardPattern(text);
        return [.. all.Where(item => pattern.Fits(valueOf(item)))];
    }

    private void Collect(string property, string text, T[] fitting, List<T> found, Action<StorageErrorInfo> fail)
    {
        if (fitting.Length == 0 && !new WildcardPattern(text).HasWildcards)
        {
            fail(StorageException.NotFound(windowsClass, property, text).Error);
        }

        found.AddRange(fitting.Except(found));
    }
}
