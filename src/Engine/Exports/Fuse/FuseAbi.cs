using System.Buffers.Binary;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Fuse;

// Numbers and layouts of the FUSE protocol, as the kernel's header linux/fuse.h assigns them (version 7.41). Numbers are in the byte order of the machine.

/// <summary>Operations that the kernel asks for.</summary>
internal enum FuseOperation : uint
{
    LookUp = 1,
    Forget = 2,
    GetAttributes = 3,
    SetAttributes = 4,
    Open = 14,
    Read = 15,
    Write = 16,
    StatFileSystem = 17,
    Release = 18,
    Sync = 20,
    Init = 26,
    OpenFolder = 27,
    ReadFolder = 28,
    ReleaseFolder = 29,
    Access = 34,
    Interrupt = 36,
    Destroy = 38,
    ForgetSeveral = 42,
    Allocate = 43,
}

/// <summary>The head of every message from the kernel.</summary>
/// <param name="Length">Bytes of the whole message.</param>
/// <param name="Operation">The operation.</param>
/// <param name="Unique">Identity of the request, which its answer repeats.</param>
/// <param name="Node">The file or folder that is meant.</param>
internal readonly record struct FuseHead(uint Length, FuseOperation Operation, ulong Unique, ulong Node)
{
    internal const int Size = 40;

    internal static FuseHead Decode(ReadOnlySpan<byte> bytes) => new(
        BinaryPrimitives.ReadUInt32LittleEndian(bytes),
        (FuseOperation)BinaryPrimitives.ReadUInt32LittleEndian(bytes[4..]),
        BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]),
        BinaryPrimitives.ReadUInt64LittleEndian(bytes[16..]));
}

/// <summary>A range of the file in a request to read, write or allocate.</summary>
/// <param name="Offset">First byte.</param>
/// <param name="Length">Number of bytes.</param>
/// <param name="Mode">Mode of an allocation.</param>
internal readonly record struct FuseRange(long Offset, long Length, FuseAllocation Mode)
{
    /// <summary>Range of a read or write: behind the handle of the file.</summary>
    internal static FuseRange OfTransfer(ReadOnlySpan<byte> body) =>
        new(BinaryPrimitives.ReadInt64LittleEndian(body[8..]), BinaryPrimitives.ReadUInt32LittleEndian(body[16..]), FuseAllocation.None);

    internal static FuseRange OfAllocation(ReadOnlySpan<byte> body) =>
        new(BinaryPrimitives.ReadInt64LittleEndian(body[8..]), BinaryPrimitives.ReadInt64LittleEndian(body[16..]),
            (FuseAllocation)BinaryPrimitives.ReadUInt32LittleEndian(body[24..]));
}

/// <summary>Modes of fallocate.</summary>
[Flags]
internal enum FuseAllocation : uint
{
    None = 0,
    KeepSize = 1,
    PunchHole = 2,
    ZeroRange = 0x10,
}

/// <summary>Offer of the kernel at the start, and the choice.</summary>
[Flags]
internal enum FuseFeatures : ulong
{
    None = 0,

    /// <summary>Several reads of a file at a time.</summary>
    AsyncRead = 1UL << 0,

    /// <summary>Writes of more than a page.</summary>
    BigWrites = 1UL << 5,

    /// <summary>Direct I/O that does not wait.</summary>
    AsyncDirectIo = 1UL << 15,

    /// <summary>Look-ups in a folder beside each other.</summary>
    ParallelFolders = 1UL << 18,

    /// <summary>Requests of more than 32 pages.</summary>
    MaxPages = 1UL << 22,

    /// <summary>The second half of these flags is there.</summary>
    Extended = 1UL << 30,

    /// <summary>Requests that were read and not answered are delivered again on demand.</summary>
    Resend = 1UL << 39,
}

/// <summary>Answers and sizes of the protocol.</summary>
internal static class FuseAbi
{
    /// <summary>Bytes of the head of an answer.</summary>
    internal const int AnswerHead = 16;

    /// <summary>Bytes in front of the data of a write: the head and its range.</summary>
    internal const int WriteHead = FuseHead.Size + 40;

    /// <summary>Largest read or write, in bytes. The kernel keeps to what was chosen at its start, so no later version takes less.</summary>
    internal const int MaxData = 1 << 20;

    /// <summary>The folder that is mounted.</summary>
    internal const ulong RootNode = 1;

    /// <summary>The one file in it.</summary>
    internal const ulong DiskNode = 2;

    internal const int AttributesBytes = 88;

    /// <summary>An attribute that is set: the size of the file.</summary>
    internal const uint SetsSize = 1 << 3;

    /// <summary>Opens past the page cache, with writes beside each other.</summary>
    internal const uint OpenDirect = 1 | (1 << 6);

    private const int Page = 4096;
    private const int RequestsAtOnce = 256;
    private const int NewestMinor = 41;
    private const int NotifyResend = 7;
    private const FuseFeatures Wanted = FuseFeatures.AsyncRead | FuseFeatures.BigWrites | FuseFeatures.AsyncDirectIo | FuseFeatures.ParallelFolders
        | FuseFeatures.MaxPages | FuseFeatures.Extended | FuseFeatures.Resend;

    /// <summary>Encodes the head of an answer.</summary>
    /// <param name="head">Target.</param>
    /// <param name="unique">Identity of the request.</param>
    /// <param name="errno">Error number, or 0.</param>
    /// <param name="bytes">Bytes that follow.</param>
    internal static void PutHead(Span<byte> head, ulong unique, int errno, int bytes)
    {
        BinaryPrimitives.WriteInt32LittleEndian(head, AnswerHead + bytes);
        BinaryPrimitives.WriteInt32LittleEndian(head[4..], -errno);
        BinaryPrimitives.WriteUInt64LittleEndian(head[8..], unique);
    }

    /// <summary>Encodes the notice that asks for everything again that was not answered.</summary>
    internal static void PutResend(Span<byte> head) => PutHead(head, 0, -NotifyResend, 0);

    /// <summary>Offer of the kernel.</summary>
    internal static FuseFeatures OfferedBy(ReadOnlySpan<byte> body)
    {
        FuseFeatures low = (FuseFeatures)BinaryPrimitives.ReadUInt32LittleEndian(body[12..]);
        return (low & FuseFeatures.Extended) == 0 ? low : low | (FuseFeatures)((ulong)BinaryPrimitives.ReadUInt32LittleEndian(body[16..]) << 32);
    }

    /// <summary>Encodes what is chosen of an offer. Returns its length.</summary>
    internal static int PutChoice(Span<byte> answer, ReadOnlySpan<byte> offer)
    {
        answer[..64].Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(answer, 7);
        BinaryPrimitives.WriteUInt32LittleEndian(answer[4..], Math.Min(BinaryPrimitives.ReadUInt32LittleEndian(offer[4..]), NewestMinor));
        BinaryPrimitives.WriteUInt32LittleEndian(answer[12..], (uint)((ulong)Wanted & uint.MaxValue));
        BinaryPrimitives.WriteUInt16LittleEndian(answer[16..], RequestsAtOnce);
        BinaryPrimitives.WriteUInt16LittleEndian(answer[18..], RequestsAtOnce - (RequestsAtOnce / 4));
        BinaryPrimitives.WriteUInt32LittleEndian(answer[20..], MaxData);
        BinaryPrimitives.WriteUInt32LittleEndian(answer[24..], 1);   // nanoseconds of its clock
        BinaryPrimitives.WriteUInt16LittleEndian(answer[28..], MaxData / Page);
        BinaryPrimitives.WriteUInt32LittleEndian(answer[32..], (uint)((ulong)Wanted >> 32));
        return 64;
    }

    /// <summary>Encodes what a look-up has found. Returns its length. The name is kept for ever, the attributes never.</summary>
    internal static int PutEntry(Span<byte> answer, in StoreGeometry geometry, bool isReadOnly)
    {
        const ulong forever = 1UL << 32;
        answer[..(40 + AttributesBytes)].Clear();
        BinaryPrimitives.WriteUInt64LittleEndian(answer, DiskNode);
        BinaryPrimitives.WriteUInt64LittleEndian(answer[16..], forever);
        PutAttributes(answer[40..], DiskNode, geometry, isReadOnly);
        return 40 + AttributesBytes;
    }

    /// <summary>Encodes the attributes of a node, which are asked for again each time. Returns their length.</summary>
    internal static int PutAttributesOf(Span<byte> answer, ulong node, in StoreGeometry geometry, bool isReadOnly)
    {
        answer[..(16 + AttributesBytes)].Clear();
        PutAttributes(answer[16..], node, geometry, isReadOnly);
        return 16 + AttributesBytes;
    }

    /// <summary>Encodes the answer to an opening. Returns its length.</summary>
    internal static int PutOpen(Span<byte> answer, uint flags)
    {
        answer[..16].Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(answer[8..], flags);
        return 16;
    }

    /// <summary>Encodes the one entry of the folder. Returns its length.</summary>
    internal static int PutFolder(Span<byte> answer, ReadOnlySpan<byte> name, long from)
    {
        const uint regular = 8;
        if (from > 0)
        {
            return 0;
        }

        int length = (24 + name.Length + 7) & ~7;
        answer[..length].Clear();
        BinaryPrimitives.WriteUInt64LittleEndian(answer, DiskNode);
        BinaryPrimitives.WriteUInt64LittleEndian(answer[8..], 1);
        BinaryPrimitives.WriteInt32LittleEndian(answer[16..], name.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(answer[20..], regular);
        name.CopyTo(answer[24..]);
        return length;
    }

    /// <summary>Encodes the size of the file system. Returns its length. A loop device takes the block for the unit of a discard.</summary>
    internal static int PutFileSystem(Span<byte> answer, in StoreGeometry geometry)
    {
        answer[..80].Clear();
        BinaryPrimitives.WriteInt64LittleEndian(answer, geometry.Length / Page);
        BinaryPrimitives.WriteUInt32LittleEndian(answer[40..], Page);
        BinaryPrimitives.WriteUInt32LittleEndian(answer[44..], 255);
        BinaryPrimitives.WriteUInt32LittleEndian(answer[48..], Page);
        return 80;
    }

    private static void PutAttributes(Span<byte> to, ulong node, in StoreGeometry geometry, bool isReadOnly)
    {
        const uint file = 0x8000;
        const uint folder = 0x4000;
        bool isDisk = node != RootNode;
        BinaryPrimitives.WriteUInt64LittleEndian(to, node);
        BinaryPrimitives.WriteInt64LittleEndian(to[8..], isDisk ? geometry.Length : 0);
        BinaryPrimitives.WriteInt64LittleEndian(to[16..], isDisk ? geometry.Length / 512 : 0);
        BinaryPrimitives.WriteUInt32LittleEndian(to[60..], isDisk ? file | (isReadOnly ? 0x100u : 0x180u) : folder | 0x140u);
        BinaryPrimitives.WriteUInt32LittleEndian(to[64..], isDisk ? 1u : 2u);
        BinaryPrimitives.WriteUInt32LittleEndian(to[80..], Page);
    }
}
