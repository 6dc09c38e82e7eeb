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
    /// <summary>What succeeded, or was found.</summary>
    public TInfo[] Objects { get; init; } = [];

    /// <summary>What failed.</summary>
    public StorageErrorInfo[] Errors { get; init; } = [];

    /// <summary>What succeeded and deserves a remark.</summary>
    public string[] Warnings { get; init; } = [];

    /// <summary>What was done or, when the request asked that, would be done: a line each.</summary>
    public string[] Steps { get; init; } = [];

    /// <summary>That there is more to the answer, and how it is asked for (<see cref="StorageRequest.Page"/>); null when this is all.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? NextPage { get; init; }

    /// <summary>The request for the next page; null when there is none.</summary>
    /// <param name="request">The request that this answers.</param>
    public StorageRequest<TInfo>? Next(StorageRequest<TInfo> request) => NextPage is null ? null : request with { Page = NextPage };
}
