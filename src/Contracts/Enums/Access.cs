using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Access of clients to a virtual disk. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<Access>))]
public enum Access
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "Readable".</summary>
    Readable = 1,

    /// <summary>Shown as "Writeable".</summary>
    Writeable = 2,

    /// <summary>Shown as "Read/Write".</summary>
    ReadWrite = 3,

    /// <summary>Shown as "Write Once".</summary>
    WriteOnce = 4,
}
