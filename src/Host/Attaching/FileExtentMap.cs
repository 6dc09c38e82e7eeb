using System.Buffers.Binary;
using Microsoft.Win32.SafeHandles;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Attaching;

/// <summary>The extents of a file (FIEMAP).</summary>
internal static class FileExtentMap
{
    private const nuint MapExtents = 0xC020660B;   // FS_IOC_FIEMAP
    private const int HeaderBytes = 32;
    private const int ExtentBytes = 56;
    private const int ExtentsAtOnce = 512;
    private const uint FlagSync = 1;

    private const uint Last = 1;
    private const uint Unknown = 2;
    private const uint Delayed = 4;
    private const uint Encoded = 8;
    private const uint Encrypted = 0x80;
    private const uint Inline = 0x200;
    private const uint Tail = 0x400;

    /// <summary>
    /// Returns the ranges that hold the data of an open file, in the order of the file; bytes of the device that its file system is
    /// on.
    /// </summary>
    public static List<PinnedRange> Of(SafeFileHandle file, string path)
    {
        List<PinnedRange> pieces = [];
        byte[] buffer = new byte[HeaderBytes + (ExtentsAtOnce * ExtentBytes)];
        bool isWhole = false;
        for (ulong start = 0; !isWhole;)
        {
            Ask(file, path, start, buffer);
            isWhole = Take(path, buffer, pieces, ref start);
        }

        return pieces.Count > 0 ? pieces : throw new StorageException(
            StorageErrors.InvalidParameter, $"-FilePath '{path}' has no data on the disk: it is empty, or a hole.", "Write the file first.", path);
    }

    private static void Ask(SafeFileHandle file, string path, ulong start, byte[] buffer)
    {
        Array.Clear(buffer, 0, HeaderBytes);
        BinaryPrimitives.WriteUInt64LittleEndian(buffer, start);
        BinaryPrimitives.WriteUInt64LittleEndian(buffer.AsSpan(8), ulong.MaxValue - start);
        BinaryPrimitives.WriteUInt32LittleEndian(buffer.AsSpan(16), FlagSync);
        BinaryPrimitives.WriteUInt32LittleEndian(buffer.AsSpan(24), ExtentsAtOnce);
        if (Control(file, buffer) is < 0 and var error)
        {
            throw new StorageException(
                StorageErrors.NotSupported,
                $"-FilePath '{path}': its file system does not report the places of the file ({Errno.Describe(-error)}).",
                "Name a file on ext4 or XFS.", path);
        }
    }

    private static unsafe int Control(SafeFileHandle file, byte[] buffer)
    {
        fixed (byte* bytes = buffer)
        {
            int result = Libc.CountOrError(Libc.Control((int)file.DangerousGetHandle(), MapExtents, bytes));
            GC.KeepAlive(file);
            return result;
        }
    }

    /// <summary>Takes the extents of an answer; true when they are the last.</summary>
    internal static bool Take(string path, ReadOnlySpan<byte> answer, List<PinnedRange> pieces, ref ulong start)
    {
        int count = (int)BinaryPrimitives.ReadUInt32LittleEndian(answer[20..]);
        for (int i = 0; i < count; i++)
        {
            ReadOnlySpan<byte> extent = answer.Slice(HeaderBytes + (i * ExtentBytes), ExtentBytes);
            ulong length = BinaryPrimitives.ReadUInt64LittleEndian(extent[16..]);
            uint flags = BinaryPrimitives.ReadUInt32LittleEndian(extent[40..]);
            RequirePlace(path, flags);
            pieces.Add(new PinnedRange((long)BinaryPrimitives.ReadUInt64LittleEndian(extent[8..]), (long)length));
            start = BinaryPrimitives.ReadUInt64LittleEndian(extent) + length;
            if ((flags & Last) != 0)
            {
                return true;
            }
        }

        return count == 0;
    }

    // Encrypted data has a place like any other; the kernel calls it encoded as well.
    private static void RequirePlace(string path, uint flags)
    {
        (string? reason, string? action) =
            (flags & (Inline | Tail)) != 0 ? ("lies in the inode, with the metadata of its file system", "Files of a block and more can be pinned.")
            : (flags & (Unknown | Delayed)) != 0 ? ("has data that has no place on the disk yet", "Run 'sync', then pin it.")
            : (flags & Encoded) != 0 && (flags & Encrypted) == 0 ? ("is compressed by its file system", "Rewrite it without compression.")
            : ("", "");
        if (reason.Length > 0)
        {
            throw new StorageException(StorageErrors.NotSupported, $"-FilePath '{path}' {reason}.", action, path);
        }
    }
}
