namespace TierSpaces.Host.Verbs.Subsystems;

/// <summary>
/// The one storage provider: the host. It has no object of its own; it is named as that of Storage Spaces, with the identifier of the storage subsystem.
/// </summary>
internal static class LocalProvider
{
    /// <summary>Manufacturer.</summary>
    public const string Manufacturer = "TierSpaces";

    private static readonly string[] s_names = ["Storage Spaces Management Provider", "Windows Storage Management Provider", "TierSpaces"];

    /// <summary>Finds it by any of its names.</summary>
    public static Selector<string> Selector { get; } =
        new("MSFT_StorageProvider", s_names, static _ => LocalSubsystem.Selector.IdOf(""), static name => name);
}
