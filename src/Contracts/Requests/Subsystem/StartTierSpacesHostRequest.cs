namespace TierSpaces.Contracts;

/// <summary>Starts the host process of this home, if none runs.</summary>
[Verb("Start-TierSpacesHost", "Starts the host process of this home, if none runs.", ChangesState = true, IsIdempotent = true,
    IsAboutHost = true, IsOurs = true)]
public sealed record StartTierSpacesHostRequest : StorageRequest<TierSpacesHostInfo>;
