using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>
/// The answer to a verb. Objects, errors and warnings may all be there: a verb on several objects does what it can, and an error
/// names the object it is about.
/// </summary>
/// <typeparam name="TInfo">Kind of the objects.</typeparam>
public sealed record VerbReply<TInfo>
    where TInfo : class
{
    /// <summary>Objects on which the verb succeeded, or that it found.</summary>
    public TInfo[] Objects { get; init; } = [];

    /// <summary>Errors of the objects on which the verb failed.</summary>
    public StorageErrorInfo[] Errors { get; init; } = [];

    /// <summary>Warnings of a verb that succeeded.</summary>
    public string[] Warnings { get; init; } = [];

    /// <summary>Steps that were done or, if the request asks only for the plan, that would be done: a line each.</summary>
    public string[] Steps { get; init; } = [];

    /// <summary>Value of <see cref="StorageRequest.Page"/> that requests the next page of the answer; null when there is none.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? NextPage { get; init; }

    /// <summary>The request for the next page; null when there is none.</summary>
    /// <param name="request">The request that this answers.</param>
    public StorageRequest<TInfo>? Next(StorageRequest<TInfo> request) => NextPage is null ? null : request with { Page = NextPage };
}
