using System.Reflection;

namespace TierSpaces.Contracts;

/// <summary>
/// The version that module, command line and host are of. A caller names its own with each request. A host of another major or minor number rejects
/// the request before it does anything, since the two may mean different things by the same request. Requests that look at a host or stop it are
/// accepted, so that an administrator can always replace it.
/// </summary>
public static class ContractsVersion
{
    /// <summary>Header in which caller and host name their version.</summary>
    public const string Header = "TierSpaces-Version";

    /// <summary>This version, for example <c>0.1.0</c>.</summary>
    public static string Text { get; } =
        typeof(ContractsVersion).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()!.InformationalVersion;

    /// <summary>Whether a caller of a version may have a verb carried out.</summary>
    /// <param name="caller">Version of the caller; empty when it names none, as a person with curl does.</param>
    /// <param name="verb">Verb and noun.</param>
    public static bool Admits(string caller, string verb) =>
        caller.Length == 0 || Numbers(caller) == Numbers(Text) || VerbDescription.Find(verb)?.Verb.StartsNoHost == true;

    private static (string Major, string Minor) Numbers(string version) =>
        version.Split('.') is [var major, var minor, ..] ? (major, minor) : (version, "");
}
