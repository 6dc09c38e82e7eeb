namespace TierSpaces.Contracts;

/// <summary>Describes the host process.</summary>
[Verb("Get-TierSpacesHost", "Describes the host process.", StartsNoHost = true, IsOurs = true)]
public sealed record GetTierSpacesHostRequest : StorageRequest<TierSpacesHostInfo>;
