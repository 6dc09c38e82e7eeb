using System.Text;
using System.Text.Json;
using TierSpaces.Contracts;
using TierSpaces.Host.Verbs;

namespace TierSpaces.Fuzz.Targets;

/// <summary>
/// Bodies of management requests, through the dispatcher as HTTP hands them over: verb, JSON, the checks of the request record. The
/// handlers behind carry nothing out.
/// </summary>
internal static class RequestTargets
{
    private static readonly VerbDescription[] s_verbs = [.. VerbDescription.All];
    private static readonly VerbDispatcher s_dispatcher = new(s_verbs.Select(HandlerOf), new SemaphoreSlim(1));

    private static readonly string[] s_words =
        ["null", "true", "1e999", "-1", "\"\"", "[null]", "{}", "[[[[", "\"*\"", "18446744073709551616", "\\u0000", "\\ud800", "\"Mirror\"", "\"Retired\"",
        ","];

    internal static IReadOnlyList<FuzzTarget> All { get; } =
    [
        new("request-json", [.. s_verbs.Select(SampleOf)], Run)
        {
            AllocationBase = 512 << 10, AllocationPerByte = 1024, MaxLength = 16 << 10, Words = [.. s_words.Select(Encoding.UTF8.GetBytes)], Weight = 40,
        },
    ];

    private static string Run(byte[] bytes)
    {
        int end = Math.Max(0, bytes.AsSpan().IndexOf((byte)'\n'));
        using MemoryStream answer = new();
        s_dispatcher.RunAsync(Encoding.UTF8.GetString(bytes, 0, end), bytes[Math.Min(bytes.Length, end + 1)..], CancellationToken.None)
            .GetAwaiter().GetResult()(new ReplyOutput(answer, static _ => { }), CancellationToken.None).GetAwaiter().GetResult();
        using JsonDocument reply = JsonDocument.Parse(answer.ToArray());
        foreach (JsonElement error in reply.RootElement.GetProperty("Errors").EnumerateArray())
        {
            string message = error.ToString();
            if (message.Contains($"\"{StorageErrors.Failed.Word}\"", StringComparison.Ordinal))
            {
                throw new WrongAnswerException($"a request ends in an unexpected error: {message}");
            }

            return message.Split("ExtendedInformation", 2)[^1];
        }

        return "passed";
    }

    /// <summary>A request with a value in every parameter that has one to give.</summary>
    private static byte[] SampleOf(VerbDescription verb)
    {
        using MemoryStream stream = new();
        stream.Write(Encoding.UTF8.GetBytes(verb.Name + "\n"));
        using (Utf8JsonWriter json = new(stream))
        {
            json.WriteStartObject();
            foreach (ParameterDescription parameter in verb.Parameters.Where(parameter => parameter.IsIn(verb.Verb.DefaultSet)))
            {
                json.WritePropertyName(parameter.Name);
                json.WriteRawValue(ValueOf(parameter));
            }

            json.WriteEndObject();
        }

        return stream.ToArray();
    }

    private static string ValueOf(ParameterDescription parameter)
    {
        Type type = parameter.ElementType;
        string one = parameter.AcceptedValues.Length > 0 ? $"\"{parameter.AcceptedValues[0]}\""
            : type == typeof(bool) ? "true" : type == typeof(string) ? "\"text\"" : type.IsEnum ? $"\"{Enum.GetNames(type)[0]}\"" : "4096";
        return parameter.Property.PropertyType.IsArray ? $"[{one}]" : one;
    }

    private static IVerbHandler HandlerOf(VerbDescription verb) =>
        (IVerbHandler)Activator.CreateInstance(typeof(Checked<,>).MakeGenericType(verb.RequestType, verb.OutputType))!;

    /// <summary>Takes a request that passed all checks, and does nothing.</summary>
    private sealed class Checked<TRequest, TInfo> : VerbHandler<TRequest, TInfo>
        where TRequest : StorageRequest<TInfo>
        where TInfo : class
    {
        protected override Task HandleAsync(TRequest request, ReplyBuilder<TInfo> reply, CancellationToken cancellation) => Task.CompletedTask;
    }
}
