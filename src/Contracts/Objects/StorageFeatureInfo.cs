namespace TierSpaces.Contracts;

/// <summary>A feature of Windows storage, and how much of it is here. Returned by Get-StorageFeature.</summary>
[WindowsClass("TierSpaces_StorageFeature", "Name", "State", "Difference")]
public sealed record StorageFeatureInfo
{
    /// <summary>Name that Windows gives the feature.</summary>
    public string Name { get; init; } = "";

    /// <summary>Here, In part or Not here.</summary>
    public string State { get; init; } = "";

    /// <summary>Differences from Windows that matter, with the reasons; empty for none.</summary>
    public string Difference { get; init; } = "";

    /// <summary>Advice: cmdlets or parameters here, or another program.</summary>
    public string Remedy { get; init; } = "";
}
