using System.Buffers.Binary;

namespace TierSpaces.Engine.Exports.Nbd;

// Numbers of the transmission phase, as the NBD protocol document assigns them.

internal enum NbdCommand : ushort
{
    Read = 0,
    Write = 1,
    Disconnect = 2,
    Flush = 3,
    Trim = 4,
    Cache = 5,
    WriteZeroes = 6,
    BlockStatus = 7,
}

[Flags]
internal enum NbdCommandFlags : ushort
{
    None = 0,
    Fua = 1 << 0,
    NoHole = 1 << 1,
    DontFragment = 1 << 2,
    RequestOne = 1 << 3,
}

internal enum NbdChunk : ushort
{
    None = 0,
    OffsetData = 1,
    BlockStatus = 5,
    Error = 0x8001,
}

internal enum NbdErrno : uint
{
    None = 0,
    Permission = 1,
    Io = 5,
    NoMemory = 12,
    Invalid = 22,
    NoSpace = 28,
    Overflow = 75,
    NotSupported = 95,
    ShutDown = 108,
}

/// <summary>The 28 bytes in front of every request.</summary>
/// <param name="Magic">Identifies a request.</param>
/// <param name="Flags">Flags of the command.</param>
/// <param name="Command">The command.</param>
/// <param name="Cookie">Chosen by the client, sent back as it came: never interpreted, so never byte-swapped.</param>
/// <param name="Offset">First byte of the export that is meant.</param>
/// <param name="Length">Number of bytes.</param>
internal readonly record struct NbdRequestHeader(
    uint Magic, NbdCommandFlags Flags, NbdCommand Command, ulong Cookie, ulong Offset, uint Length)
{
    internal const int Size = 28;

    internal static NbdRequestHeader Decode(ReadOnlySpan<byte> bytes) => new(
        BinaryPrimitives.ReadUInt32BigEndian(bytes),
        (NbdCommandFlags)BinaryPrimitives.ReadUInt16BigEndian(bytes[4..]),
        (NbdCommand)BinaryPrimitives.ReadUInt16BigEndian(bytes[6..]),
        BitConverter.ToUInt64(bytes[8..]),
        BinaryPrimitives.ReadUInt64BigEndian(bytes[16..]),
        BinaryPrimitives.ReadUInt32BigEndian(bytes[24..]));

    /// <summary>The offset alone; any number where these bytes are no header.</summary>
    internal static long OffsetIn(ReadOnlySpan<byte> bytes) => BinaryPrimitives.ReadInt64BigEndian(bytes[16..]);
}
