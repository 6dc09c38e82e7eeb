using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>A verb with its parameters: what a cmdlet, a command or an HTTP body fills.</summary>
public abstract record StorageRequest
{
    /// <summary>Whether the host only says what it would do, and does nothing. A verb that changes nothing is not asked so.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool WhatIf { get; init; }
}

/// <summary>A verb that answers with objects of one kind.</summary>
/// <typeparam name="TInfo">Kind of the objects.</typeparam>
public abstract record StorageRequest<TInfo> : StorageRequest
    where TInfo : class;
