using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs;

/// <summary>
/// What every handler shares: JSON in and out, the checks that follow from the request record alone, errors as data.
/// </summary>
/// <typeparam name="TRequest">The request record.</typeparam>
/// <typeparam name="TInfo">Kind of the objects it answers with.</typeparam>
internal abstract class VerbHandler<TRequest, TInfo> : IVerbHandler
    where TRequest : StorageRequest<TInfo>
    where TInfo : class
{
    /// <inheritdoc/>
    public VerbDescription Verb { get; } = VerbDescription.Of(typeof(TRequest));

    /// <summary>JSON of the request; the generated one unless a handler of a foreign record says otherwise.</summary>
    protected virtual JsonTypeInfo<TRequest> RequestJson =>
        (JsonTypeInfo<TRequest>)ContractsJson.Default.GetTypeInfo(typeof(TRequest))!;

    /// <summary>JSON of the reply.</summary>
    protected virtual JsonTypeInfo<VerbReply<TInfo>> ReplyJson =>
        (JsonTypeInfo<VerbReply<TInfo>>)ContractsJson.Default.GetTypeInfo(typeof(VerbReply<TInfo>))!;

    /// <inheritdoc/>
    public async Task<byte[]> RunAsync(byte[] body, CancellationToken cancellation)
    {
        var reply = new ReplyBuilder<TInfo>();
        await reply.TryAsync(async () =>
        {
            var request = Read(body);
            RequestCheck.Check(Verb, request, reply.Warn);
            reply.IsWhatIf = request.WhatIf && Verb.Verb.ChangesState;
            await HandleAsync(request, reply, cancellation).ConfigureAwait(false);
        }).ConfigureAwait(false);
        return JsonSerializer.SerializeToUtf8Bytes(reply.ToReply(), ReplyJson);
    }

    /// <summary>Carries out a checked request. An exception becomes an error of the whole verb.</summary>
    protected abstract Task HandleAsync(TRequest request, ReplyBuilder<TInfo> reply, CancellationToken cancellation);

    private TRequest Read(byte[] body)
    {
        try
        {
            return JsonSerializer.Deserialize(body.AsSpan(), RequestJson)
                ?? throw new StorageException(StorageErrors.InvalidParameter, "The request is empty.");
        }
        catch (JsonException e)
        {
            throw new StorageException(StorageErrors.InvalidParameter, $"The request cannot be read: {e.Message}", inner: e);
        }
    }
}
