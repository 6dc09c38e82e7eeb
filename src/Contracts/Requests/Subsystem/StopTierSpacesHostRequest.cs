namespace TierSpaces.Contracts;

/// <summary>Stops the host process in good order; disks stay as they are.</summary>
[Verb(
    "Stop-TierSpacesHost", "Stops the host process in good order; disks stay as they are.",
    ChangesState = true, StartsNoHost = true, IsAboutHost = true, IsOurs = true)]
public sealed record StopTierSpacesHostRequest : StorageRequest<TierSpacesHostInfo>;
