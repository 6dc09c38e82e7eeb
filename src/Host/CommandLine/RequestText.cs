using System.Buffers;
using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>
/// Makes the JSON body of a request from what was typed. The request record is described, never built: any verb will do.
/// </summary>
internal static class RequestText
{
    /// <summary>The body as UTF-8 JSON.</summary>
    /// <exception cref="UsageException">A value does not fit its parameter.</exception>
    public static byte[] Write(VerbDescription verb, VerbArguments arguments, bool isWhatIf = false)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using var json = new Utf8JsonWriter(buffer);
        json.WriteStartObject();
        foreach (var parameter in verb.Parameters.Where(parameter => arguments.Values.ContainsKey(parameter.Name)))
        {
            ValueText.Write(json, parameter, arguments.Values[parameter.Name]);
        }

        if (isWhatIf)
        {
            json.WriteBoolean(nameof(StorageRequest.WhatIf), true);
        }

        json.WriteEndObject();
        json.Flush();
        return buffer.WrittenSpan.ToArray();
    }
}
