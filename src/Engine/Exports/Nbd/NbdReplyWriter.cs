using System.Buffers.Binary;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>Encodes the reply to a request, simple or structured, into a batch.</summary>
internal static class NbdReplyWriter
{
    /// <summary>Bytes of the longest header.</summary>
    internal const int LargestHeader = ChunkHeader + 6 + NbdFaults.MaxMessage;

    private const int SimpleHeader = 16;
    private const int ChunkHeader = 20;

    /// <summary>Encodes the reply to a request that has ended.</summary>
    internal static void Write(NbdReplyBatch batch, NbdRequest request, NbdFault fault, bool structured)
    {
        bool hasData = request.Command is NbdCommand.Read or NbdCommand.BlockStatus;
        if (!structured || (!hasData && fault == NbdFault.None))
        {
            WriteSimple(batch, request, fault);
        }
        else if (fault != NbdFault.None)
        {
            WriteError(batch, request, fault);
        }
        else if (request.ReplyBytes == 0)
        {
            StartChunk(batch, request, NbdChunk.None, ChunkHeader, 0);
        }
        else if (request.Command == NbdCommand.Read)
        {
            Span<byte> chunk = StartChunk(batch, request, NbdChunk.OffsetData, ChunkHeader + 8, 8 + request.ReplyBytes);
            BinaryPrimitives.WriteInt64BigEndian(chunk[ChunkHeader..], request.Offset);
            batch.AddPayload(request.ReplyPayload);
        }
        else
        {
            StartChunk(batch, request, NbdChunk.BlockStatus, ChunkHeader, request.ReplyBytes);
            batch.AddPayload(request.ReplyPayload);
        }
    }

    private static void WriteSimple(NbdReplyBatch batch, NbdRequest request, NbdFault fault)
    {
        if (request is { IsPart: true, IsFirstPart: false, Command: NbdCommand.Read })
        {
            batch.AddPayload(request.ReplyPayload);   // behind what was sent of it
            return;
        }

        Span<byte> header = batch.AddHeader(SimpleHeader);
        BinaryPrimitives.WriteUInt32BigEndian(header, NbdMagic.SimpleReply);
        BinaryPrimitives.WriteUInt32BigEndian(header[4..], (uint)NbdFaults.Errno(fault));
        BitConverter.TryWriteBytes(header[8..], request.Cookie);
        if (fault == NbdFault.None && request.ReplyBytes > 0)
        {
            batch.AddPayload(request.ReplyPayload);
        }
    }

    private static void WriteError(NbdReplyBatch batch, NbdRequest request, NbdFault fault)
    {
        ReadOnlySpan<byte> message = NbdFaults.Message(fault);
        int payload = 6 + message.Length;
        Span<byte> chunk = StartChunk(batch, request, NbdChunk.Error, ChunkHeader + payload, payload)[ChunkHeader..];
        BinaryPrimitives.WriteUInt32BigEndian(chunk, (uint)NbdFaults.Errno(fault));
        BinaryPrimitives.WriteUInt16BigEndian(chunk[4..], (ushort)message.Length);
        message.CopyTo(chunk[6..]);
    }

    /// <summary>A reply is a single chunk, and the last one of its request unless that is in parts.</summary>
    private static Span<byte> StartChunk(NbdReplyBatch batch, NbdRequest request, NbdChunk type, int headerBytes, int payload)
    {
        const ushort done = 1;
        Span<byte> header = batch.AddHeader(headerBytes);
        BinaryPrimitives.WriteUInt32BigEndian(header, NbdMagic.StructuredReply);
        BinaryPrimitives.WriteUInt16BigEndian(header[4..], request is { IsPart: true, IsLastPart: false } ? (ushort)0 : done);
        BinaryPrimitives.WriteUInt16BigEndian(header[6..], (ushort)type);
        BitConverter.TryWriteBytes(header[8..], request.Cookie);
        BinaryPrimitives.WriteUInt32BigEndian(header[16..], (uint)payload);
        return header;
    }
}
