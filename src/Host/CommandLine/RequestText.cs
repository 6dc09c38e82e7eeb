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
    /// <param name="verb">The verb.</param>
    /// <param name="arguments">Arguments of the command line.</param>
    /// <param name="isWhatIf">Whether the host is only to say what it would do.</param>
    /// <param name="isUnconfirmed">Whether no person could be asked before something is destroyed.</param>
    /// <param name="page">Page of the answer; null for the first.</param>
    /// <exception cref="UsageException">A value does not fit its parameter.</exception>
    public static byte[] Write(VerbDescription verb, VerbArguments arguments, bool isWhatIf = false, bool isUnconfirmed = false, string? page = null)
    {
        ArrayBufferWriter<byte> buffer = new ArrayBufferWriter<byte>();
        using Utf8JsonWriter json = new Utf8JsonWriter(buffer);
        json.WriteStartObject();
        foreach (ParameterDescription? parameter in verb.Parameters.Where(parameter => arguments.Values.ContainsKey(parameter.Name)))
        {
            ValueText.Write(json, parameter, arguments.Values[parameter.Name]);
        }

        if (isWhatIf)
        {
            json.WriteBoolean(nameof(StorageRequest.WhatIf), true);
        }

        if (isUnconfirmed)
        {
            json.WriteBoolean(nameof(StorageRequest.Unconfirmed), true);
        }

        if (page is not null)
        {
            json.WriteString(nameof(StorageRequest.Page), page);
        }

        json.WriteEndObject();
        json.Flush();
        return buffer.WrittenSpan.ToArray();
    }
}
