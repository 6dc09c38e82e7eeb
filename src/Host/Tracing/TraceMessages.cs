using System.Text.Json.Serialization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Tracing;

/// <summary>Asks a host of the same version for a trace of a virtual disk.</summary>
/// <param name="VirtualDisk">Identity of the virtual disk.</param>
/// <param name="Seconds">Time, in seconds.</param>
/// <param name="Count">Most requests to show.</param>
internal sealed record TraceRequest(Guid VirtualDisk, double Seconds, int Count);

/// <summary>The trace, or the reason why there is none.</summary>
/// <param name="Report">The trace; null after an error.</param>
/// <param name="Error">The error; null: none.</param>
internal sealed record TraceReply(TraceReport? Report, StorageErrorInfo? Error);

/// <summary>JSON of both.</summary>
[JsonSerializable(typeof(TraceRequest))]
[JsonSerializable(typeof(TraceReply))]
internal sealed partial class TraceJson : JsonSerializerContext;
