namespace TierSpaces.Contracts;

/// <summary>Stops the host process in good order; disks stay as they are.</summary>
[Verb(
    "Stop-TierSpacesHost", "Stops the host process in good order, unless virtual disks are in use.",
    ChangesState = true, StartsNoHost = true, IsAboutHost = true, IsOurs = true)]
public sealed record StopTierSpacesHostRequest : StorageRequest<TierSpacesHostInfo>
{
    [VerbParameter(
        "Indicates that the host stops also while virtual disks are in use: file systems are flushed and unmounted, and clients are disconnected. "
        + "Requests of programs with open files fail from then on.")]
    public bool Force { get; init; }

    [VerbParameter(
        "Indicates that the host stops also while virtual disks are in use, and that their block devices stay: requests wait for the next host. "
        + "A host is upgraded this way while file systems are mounted.")]
    public bool KeepAttached { get; init; }
}
