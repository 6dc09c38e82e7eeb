using System.Text;

namespace TierSpaces.Engine.Formats;

/// <summary>Recognises data of other software on a disk, so that such a disk is not pooled by mistake.</summary>
public static class ForeignSignature
{
    /// <summary>Bytes to read from the start of the disk: up to the furthest signature known there.</summary>
    public const int HeadBytes = 264 << 10;

    /// <summary>Bytes to read from the end of the disk.</summary>
    public const int TailBytes = 256 << 10;

    private static readonly (long Offset, byte[] Magic, string Name)[] s_head =
    [
        (512, Ascii("EFI PART"), "a GPT partition table"),
        (4096, Ascii("EFI PART"), "a GPT partition table"),
        (0x438, [0x53, 0xEF], "an ext2/3/4 file system"),
        (0, Ascii("XFSB"), "an XFS file system"),
        (0x10040, Ascii("_BHRfS_M"), "a btrfs file system"),
        (3, Ascii("NTFS    "), "an NTFS file system"),
        (3, Ascii("-FVE-FS-"), "a BitLocker volume"),
        (3, Ascii("EXFAT   "), "an exFAT file system"),
        (3, [0, 0, 0, 0x52, 0x65, 0x46, 0x53], "a ReFS file system"),
        (54, Ascii("FAT1"), "a FAT file system"),
        (82, Ascii("FAT32"), "a FAT file system"),
        (0x218, Ascii("LVM2 001"), "an LVM physical volume"),
        (0x018, Ascii("LVM2 001"), "an LVM physical volume"),
        (0x418, Ascii("LVM2 001"), "an LVM physical volume"),
        (0x618, Ascii("LVM2 001"), "an LVM physical volume"),
        (0, Ascii("LUKS\xBA\xBE"), "a LUKS volume"),
        (0, [0xFC, 0x4E, 0x2B, 0xA9], "a Linux RAID member"),
        (4096, [0xFC, 0x4E, 0x2B, 0xA9], "a Linux RAID member"),
        (4096 - 10, Ascii("SWAPSPACE2"), "swap space"),
        (4096 - 10, Ascii("SWAP-SPACE"), "swap space"),
        (65536 - 10, Ascii("SWAPSPACE2"), "swap space"),
        (0x10034, Ascii("ReIsEr"), "a ReiserFS file system"),
        (0x400, [0x10, 0x20, 0xF5, 0xF2], "an F2FS file system"),
        (0x1018, [0xC6, 0x85, 0x73, 0xF6, 0x4E, 0x1A, 0x45, 0xCA], "a bcache or bcachefs device"),
        (0x8001, Ascii("CD001"), "an ISO 9660 image"),
        (0, [0x51, 0x46, 0x49, 0xFB], "a QCOW2 image"),
    ];

    /// <summary>
    /// Names the contents of a disk, or returns an empty string if it has no known signature. <paramref name="head"/> are the first
    /// bytes of the disk (up to <see cref="HeadBytes"/>), <paramref name="tail"/> its last (up to <see cref="TailBytes"/>).
    /// </summary>
    public static string Find(ReadOnlySpan<byte> head, ReadOnlySpan<byte> tail, long diskBytes)
    {
        foreach ((long offset, byte[] magic, string name) in s_head)
        {
            if (HasAt(head, offset, magic))
            {
                return name;
            }
        }

        string found = FindZfs(head);
        found = found.Length == 0 ? FindAtEnd(tail, diskBytes) : found;
        return found.Length == 0 && HasAt(head, 510, [0x55, 0xAA]) ? "an MBR partition table" : found;
    }

    // ZFS keeps an array of überblocks in each of four labels; the first label's starts at 128 KiB.
    private static string FindZfs(ReadOnlySpan<byte> head)
    {
        byte[] little = [0x0C, 0xB1, 0xBA, 0, 0, 0, 0, 0];
        byte[] big = [0, 0, 0, 0, 0, 0xBA, 0xB1, 0x0C];
        for (long at = 128 << 10; at < HeadBytes - (8 << 10); at += 1024)
        {
            if (HasAt(head, at, little) || HasAt(head, at, big))
            {
                return "a ZFS member";
            }
        }

        return "";
    }

    private static string FindAtEnd(ReadOnlySpan<byte> tail, long diskBytes)
    {
        long start = diskBytes - tail.Length;
        long raid09 = (diskBytes & ~0xFFFFL) - 0x10000;
        long raid10 = ((diskBytes / 512) - 16 & ~7L) * 512;
        return HasAt(tail, raid09 - start, [0xFC, 0x4E, 0x2B, 0xA9]) || HasAt(tail, raid10 - start, [0xFC, 0x4E, 0x2B, 0xA9])
            ? "a Linux RAID member"
            : HasAt(tail, tail.Length - 512, Ascii("EFI PART")) || HasAt(tail, tail.Length - 4096, Ascii("EFI PART"))
                ? "a GPT partition table"
                : "";
    }

    private static bool HasAt(ReadOnlySpan<byte> bytes, long offset, ReadOnlySpan<byte> magic) =>
        offset >= 0 && offset <= bytes.Length - magic.Length && bytes.Slice((int)offset, magic.Length).SequenceEqual(magic);

    private static byte[] Ascii(string text) => Encoding.Latin1.GetBytes(text);
}
