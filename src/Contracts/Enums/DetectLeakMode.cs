using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Kinds of leak detection of ReFS. Numbered by us.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<DetectLeakMode>))]
public enum DetectLeakMode
{
    /// <summary>Looks for leaks.</summary>
    Scan = 0,

    /// <summary>Repairs them too.</summary>
    ScanAndFix = 1,

    /// <summary>The same while not mounted.</summary>
    OfflineScanAndFix = 2,

    /// <summary>Asks for the space that this takes.</summary>
    QuerySpaceForFix = 3,
}
