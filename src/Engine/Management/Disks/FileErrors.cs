namespace TierSpaces.Engine.Management;

/// <summary>Error codes of files of the host that cannot be made or written.</summary>
internal static class FileErrors
{
    /// <summary>Returns the error code of a failure; the system's error number decides.</summary>
    internal static ManagementError Of(Exception failure) => failure switch
    {
        ArgumentException => ManagementError.InvalidParameter,
        IOException { HResult: 17 } => ManagementError.FileExists,
        IOException { HResult: 2 or 20 } => ManagementError.FileNotFound,
        IOException { HResult: 1 or 13 or 30 } => ManagementError.AccessDenied,
        IOException { HResult: 28 or 122 } => ManagementError.FileSystemFull,
        _ => ManagementError.Failed,
    };
}
