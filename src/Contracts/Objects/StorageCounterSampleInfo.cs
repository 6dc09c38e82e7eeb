namespace TierSpaces.Contracts;

/// <summary>Value of one documented performance counter of one object: what Get-StorageCounter -CounterSet returns.</summary>
[WindowsClass("TierSpaces_StorageCounterSample", "InstanceName", "CounterName", "CookedValue")]
public sealed record StorageCounterSampleInfo
{
    /// <summary>Counter set: the name of the Windows class behind <c>Win32_PerfFormattedData_Counters_</c>.</summary>
    public string CounterSet { get; init; } = "";

    /// <summary>Friendly name of the virtual disk, or of the tier.</summary>
    public string InstanceName { get; init; } = "";

    /// <summary>Unique identifier of it.</summary>
    public string InstanceUniqueId { get; init; } = "";

    /// <summary>Name of the property of the Windows class.</summary>
    public string CounterName { get; init; } = "";

    /// <summary>Value, rounded to three decimals. The name says the unit; latencies are in milliseconds.</summary>
    public double CookedValue { get; init; }

    /// <summary>Seconds between the two readings that rates and averages are made of.</summary>
    public double SampleSeconds { get; init; }
}
