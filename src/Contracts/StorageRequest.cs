using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>A verb with its parameters: what a cmdlet, a command or an HTTP body fills.</summary>
public abstract record StorageRequest
{
    /// <summary>Whether the host only says what it would do, and does nothing. A verb that changes nothing is not asked so.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool WhatIf { get; init; }

    /// <summary>
    /// Whether no person could be asked for confirmation: a verb that destroys then takes exactly one object, named without wildcards. Callers
    /// that have asked already, or whose caller wants no question, leave it out.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool Unconfirmed { get; init; }

    /// <summary>
    /// Requested page of a long answer: the value of <see cref="VerbReply{TInfo}.NextPage"/> in the reply before; null for the first
    /// page.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? Page { get; init; }
}

/// <summary>A verb that answers with objects of one kind.</summary>
/// <typeparam name="TInfo">Kind of the objects.</typeparam>
public abstract record StorageRequest<TInfo> : StorageRequest
    where TInfo : class;
