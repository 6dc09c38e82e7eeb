namespace TierSpaces.Engine.Management;

/// <summary>Error codes of files of the host that cannot be made or written.</summary>
internal static class FileRefusals
{
    /// <summary>Returns the error code of a failure; the system's error number decides.</summary>
    internal static Refusal Of(Exception failure) => failure switch
    {
        ArgumentException => Refusal.InvalidParameter,
        IOException { HResult: 17 } => Refusal.FileExists,
        IOException { HResult: 2 or 20 } => Refusal.FileNotFound,
        IOException { HResult: 1 or 13 or 30 } => Refusal.AccessDenied,
        IOException { HResult: 28 or 122 } => Refusal.FileSystemFull,
        _ => Refusal.Failed,
    };
}
