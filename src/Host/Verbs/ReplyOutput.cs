using System.Buffers;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs;

/// <summary>Writes the reply of one verb.</summary>
/// <param name="output">Takes it.</param>
/// <param name="cancellation">The caller went away.</param>
internal delegate Task ReplyWriter(ReplyOutput output, CancellationToken cancellation);

// Invariants
//  1. At most ChunkBytes and one object are in memory, however long the reply is; a caller that reads slowly holds up the next object.
//  2. The bytes are those of the whole reply serialized at once.
//  3. The length is announced before the first byte of a reply that fits in one chunk, and not of a longer one.

/// <summary>Takes the reply of one verb as JSON, in chunks.</summary>
/// <param name="body">The stream that the reply is written to.</param>
/// <param name="setLength">Takes the length of the reply before its first byte, if it is known then.</param>
internal sealed class ReplyOutput(Stream body, Action<long> setLength)
{
    /// <summary>Bytes that are gathered before they are written.</summary>
    internal const int ChunkBytes = 32 << 10;

    private static ReadOnlySpan<byte> Head => "{\"Objects\":["u8;

    private readonly ArrayBufferWriter<byte> _chunk = new();
    private bool _isLong;

    /// <summary>Writes a reply.</summary>
    /// <typeparam name="TInfo">Kind of its objects.</typeparam>
    /// <param name="objects">Its objects, made while they are read.</param>
    /// <param name="rest">Gives the reply without its objects, when all have been written.</param>
    /// <param name="json">JSON of the reply.</param>
    /// <param name="cancellation">The caller went away.</param>
    public async Task WriteAsync<TInfo>(
        IAsyncEnumerable<TInfo> objects, Func<VerbReply<TInfo>> rest, JsonTypeInfo<VerbReply<TInfo>> json, CancellationToken cancellation)
        where TInfo : class
    {
        JsonTypeInfo<TInfo> one = (JsonTypeInfo<TInfo>)json.Options.GetTypeInfo(typeof(TInfo));
        using Utf8JsonWriter writer = new Utf8JsonWriter(_chunk, new JsonWriterOptions { Encoder = json.Options.Encoder });
        _chunk.Write(Head);
        bool isFirst = true;
        await foreach (TInfo info in objects.ConfigureAwait(false))
        {
            _chunk.Write(isFirst ? [] : ","u8);
            isFirst = false;
            JsonSerializer.Serialize(writer, info, one);
            writer.Reset();
            if (_chunk.WrittenCount >= ChunkBytes)
            {
                await WriteChunkAsync(cancellation).ConfigureAwait(false);
            }
        }

        _chunk.Write(JsonSerializer.SerializeToUtf8Bytes(rest() with { Objects = [] }, json).AsSpan(Head.Length));
        if (!_isLong)
        {
            setLength(_chunk.WrittenCount);
        }

        await WriteChunkAsync(cancellation).ConfigureAwait(false);
    }

    /// <summary>Writes a reply that is there as a whole.</summary>
    /// <param name="reply">The reply as JSON.</param>
    /// <param name="cancellation">The caller went away.</param>
    public async Task WriteAsync(byte[] reply, CancellationToken cancellation)
    {
        setLength(reply.Length);
        await body.WriteAsync(reply, cancellation).ConfigureAwait(false);
    }

    private async Task WriteChunkAsync(CancellationToken cancellation)
    {
        _isLong = true;
        await body.WriteAsync(_chunk.WrittenMemory, cancellation).ConfigureAwait(false);
        _chunk.ResetWrittenCount();
    }
}
