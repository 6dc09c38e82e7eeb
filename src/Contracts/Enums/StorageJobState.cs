using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>
/// State of a storage job. Numbered as in Windows, whose name for it, JobState, means the state of a background job in a shell.
/// </summary>
[JsonConverter(typeof(JsonStringEnumConverter<StorageJobState>))]
public enum StorageJobState
{
    /// <summary>Shown as "New".</summary>
    New = 2,

    /// <summary>Shown as "Starting".</summary>
    Starting = 3,

    /// <summary>Shown as "Running".</summary>
    Running = 4,

    /// <summary>Shown as "Suspended".</summary>
    Suspended = 5,

    /// <summary>Shown as "Shutting Down".</summary>
    ShuttingDown = 6,

    /// <summary>Shown as "Completed".</summary>
    Completed = 7,

    /// <summary>Shown as "Terminated".</summary>
    Terminated = 8,

    /// <summary>Shown as "Killed".</summary>
    Killed = 9,

    /// <summary>Shown as "Exception".</summary>
    Exception = 10,

    /// <summary>Shown as "Service".</summary>
    Service = 11,

    /// <summary>Shown as "Query Pending".</summary>
    QueryPending = 12,
}
