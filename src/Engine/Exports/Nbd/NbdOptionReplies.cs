using System.Buffers.Binary;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>Replies of the server during the handshake, collected and sent before the next option is read.</summary>
internal sealed class NbdOptionReplies(ILaneSocket socket, BufferPool buffers) : IDisposable
{
    private const int Size = 16 << 10;

    private readonly IoBuffer _buffer = buffers.Rent(Size);
    private readonly IoBuffer[] _piece = new IoBuffer[1];
    private int _used;

    /// <summary>Whether a listing of the greatest length still fits.</summary>
    internal bool HasRoomForExport => Size - _used >= 20 + 4 + 4096 + 4096;

    internal void Greet(NbdHandshakeFlags flags)
    {
        UInt64(NbdMagic.Greeting);
        UInt64(NbdMagic.Option);
        UInt16((ushort)flags);
    }

    internal void Ack(uint option) => Header(option, NbdOptionReply.Ack, 0);

    internal void Error(uint option, NbdOptionReply error, ReadOnlySpan<byte> message)
    {
        Header(option, error, message.Length);
        Bytes(message);
    }

    internal void Server(uint option, NbdExport export)
    {
        Header(option, NbdOptionReply.Server, 4 + export.NameBytes.Length + export.DescriptionBytes.Length);
        UInt32((uint)export.NameBytes.Length);
        Bytes(export.NameBytes);
        Bytes(export.DescriptionBytes);
    }

    internal void MetaContext(uint option, uint id, ReadOnlySpan<byte> name)
    {
        Header(option, NbdOptionReply.MetaContext, 4 + name.Length);
        UInt32(id);
        Bytes(name);
    }

    internal void InfoExport(uint option, long length, NbdTransmissionFlags flags)
    {
        Header(option, NbdOptionReply.Info, 12);
        UInt16((ushort)NbdInfo.Export);
        UInt64((ulong)length);
        UInt16((ushort)flags);
    }

    internal void InfoBlockSize(uint option, int minimum, int preferred, int maximum)
    {
        Header(option, NbdOptionReply.Info, 14);
        UInt16((ushort)NbdInfo.BlockSize);
        UInt32((uint)minimum);
        UInt32((uint)preferred);
        UInt32((uint)maximum);
    }

    internal void InfoText(uint option, NbdInfo kind, ReadOnlySpan<byte> text)
    {
        Header(option, NbdOptionReply.Info, 2 + text.Length);
        UInt16((ushort)kind);
        Bytes(text);
    }

    /// <summary>The answer to EXPORT_NAME, which has no header of its own.</summary>
    internal void EnterByName(long length, NbdTransmissionFlags flags, bool withZeroes)
    {
        UInt64((ulong)length);
        UInt16((ushort)flags);
        if (withZeroes)
        {
            Take(124).Clear();
        }
    }

    /// <summary>Sends what has been collected; false when the client is gone.</summary>
    internal async LaneTask<bool> Send()
    {
        if (_used == 0)
        {
            return true;
        }

        _piece[0] = _buffer.Slice(0, _used);
        _used = 0;
        return await socket.Send(_piece) == IoError.None;
    }

    public void Dispose() => buffers.Return(_buffer);

    private void Header(uint option, NbdOptionReply reply, int length)
    {
        UInt64(NbdMagic.OptionReply);
        UInt32(option);
        UInt32((uint)reply);
        UInt32((uint)length);
    }

    private void UInt16(ushort value) => BinaryPrimitives.WriteUInt16BigEndian(Take(2), value);

    private void UInt32(uint value) => BinaryPrimitives.WriteUInt32BigEndian(Take(4), value);

    private void UInt64(ulong value) => BinaryPrimitives.WriteUInt64BigEndian(Take(8), value);

    private void Bytes(ReadOnlySpan<byte> value) => value.CopyTo(Take(value.Length));

    private Span<byte> Take(int length)
    {
        Span<byte> taken = _buffer.Slice(_used, length).Span;
        _used += length;
        return taken;
    }
}
