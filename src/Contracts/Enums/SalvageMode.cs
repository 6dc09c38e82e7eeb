using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Kinds of salvaging of ReFS. Numbered by us.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<SalvageMode>))]
public enum SalvageMode
{
    /// <summary>Looks at the volume.</summary>
    Diagnose = 0,

    /// <summary>Looks for files.</summary>
    Scan = 1,

    /// <summary>Copies them.</summary>
    Copy = 2,

    /// <summary>Both.</summary>
    ScanAndCopy = 3,

    /// <summary>Looks for files quickly.</summary>
    QuickScan = 4,

    /// <summary>The same, and copies them.</summary>
    QuickScanAndCopy = 5,
}
