using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs;

/// <summary>
/// Base of every handler: JSON in and out, the checks that follow from the request record alone, errors as data.
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
    public async Task<ReplyWriter> RunAsync(byte[] body, CancellationToken cancellation)
    {
        ReplyBuilder<TInfo> reply = new ReplyBuilder<TInfo>();
        await reply.TryAsync(async () =>
        {
            TRequest request = Read(body);
            RequestCheck.Check(Verb, request, reply.Warn);
            if (request.WhatIf && Verb.Verb.ChangesState)
            {
                reply.PlanOnly();
            }

            await HandleAsync(request, reply, cancellation).ConfigureAwait(false);
        }).ConfigureAwait(false);
        return reply.WriterOf(ReplyJson);
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
            (string? problem, string? parameter) = Describe(body, e);
            throw new StorageException(StorageErrors.InvalidParameter, problem, target: parameter, inner: e);
        }
    }

    /// <summary>Describes the error in a body that cannot be read: if it is the value of a number parameter, that value and its range.</summary>
    private (string Problem, string Parameter) Describe(byte[] body, JsonException problem)
    {
        string name = problem.Path is { Length: > 2 } path && path.StartsWith("$.", StringComparison.Ordinal) ? path[2..].Split('[', '.')[0] : "";
        if (Verb.Parameters.FirstOrDefault(known => known.Name.Equals(name, StringComparison.OrdinalIgnoreCase)) is { } parameter
            && NumberRange.IsNumber(parameter) && TryFindNoNumber(body, parameter, out string? value))
        {
            return (NumberRange.Describe(parameter, value), parameter.Name);
        }

        return ($"The request cannot be read: {problem.Message}", "");
    }

    private static bool TryFindNoNumber(byte[] body, ParameterDescription parameter, out string value)
    {
        value = "";
        try
        {
            using JsonDocument request = JsonDocument.Parse(body);
            JsonElement given = request.RootElement.EnumerateObject()
                .Last(property => property.Name.Equals(parameter.Name, StringComparison.OrdinalIgnoreCase)).Value;
            JsonElement[] items = parameter.IsList && given.ValueKind == JsonValueKind.Array ? [.. given.EnumerateArray()] : [given];
            int wrong = Array.FindIndex(items, item => !IsNumber(item, parameter));
            value = wrong < 0 ? "" : Shortened(items[wrong].ToString());
            return wrong >= 0;
        }
        catch (JsonException)
        {
            return false;   // not JSON behind that place
        }
    }

    private static bool IsNumber(JsonElement item, ParameterDescription parameter) =>
        item.ValueKind == JsonValueKind.Number && item.TryGetUInt64(out ulong number) && number <= NumberRange.MaxOf(parameter.ElementType);

    private static string Shortened(string text)
    {
        const int shown = 40;
        return text.Length <= shown ? text : text[..shown] + "…";
    }
}
