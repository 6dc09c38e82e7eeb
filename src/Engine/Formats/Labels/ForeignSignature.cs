using System.Text;

namespace TierSpaces.Engine.Formats;

/// <summary>Recognises data of other software on a disk, so that such a disk is not pooled by mistake.</summary>
public static class ForeignSignature
{
    /// <summary>Bytes to read from the start of the disk: up to the furthest signature known there.</summary>
    public const int HeadBytes = 264 << 10;

    /// <summary>Bytes to read from the end of the disk.</summary>
    public const int TailBytes = 256 << 10;

    private const int Sector = 512;

    private static readonly byte[] s_md = [0xFC, 0x4E, 0x2B, 0xA9];
    private static readonly byte[] s_ddf = [0xDE, 0x11, 0xDE, 0x11];

    private static readonly (long Offset, byte[] Magic, string Name)[] s_data =
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
        (0, Ascii("LUKS\xBA\xBE"), "a LUKS volume"),
        (4096 - 10, Ascii("SWAPSPACE2"), "swap space"),
        (4096 - 10, Ascii("SWAP-SPACE"), "swap space"),
        (65536 - 10, Ascii("SWAPSPACE2"), "swap space"),
        (0x10034, Ascii("ReIsEr"), "a ReiserFS file system"),
        (0x400, [0x10, 0x20, 0xF5, 0xF2], "an F2FS file system"),
        (0x8001, Ascii("CD001"), "an ISO 9660 image"),
        (0, [0x51, 0x46, 0x49, 0xFB], "a QCOW2 image"),
    ];

    private static readonly (long Offset, byte[] Magic, string Name)[] s_members =
    [
        (0x218, Ascii("LVM2 001"), "an LVM physical volume"),
        (0x018, Ascii("LVM2 001"), "an LVM physical volume"),
        (0x418, Ascii("LVM2 001"), "an LVM physical volume"),
        (0x618, Ascii("LVM2 001"), "an LVM physical volume"),
        (0, s_md, "a Linux RAID member"),
        (4096, s_md, "a Linux RAID member"),
        (0x1018, [0xC6, 0x85, 0x73, 0xF6, 0x4E, 0x1A, 0x45, 0xCA], "a bcache or bcachefs device"),
    ];

    /// <summary>Names the contents of a disk, or returns an empty string if it has no known signature; the first of <see cref="FindAll"/>.</summary>
    public static string Find(ReadOnlySpan<byte> head, ReadOnlySpan<byte> tail, long diskBytes) =>
        FindAll(head, tail, diskBytes) is [var first, ..] ? first.Name : "";

    /// <summary>
    /// Returns the known signatures on a disk, those of an MBR partition table last. <paramref name="head"/> are the first bytes of the disk (up to
    /// <see cref="HeadBytes"/>), <paramref name="tail"/> its last (up to <see cref="TailBytes"/>).
    /// </summary>
    public static IReadOnlyList<DiskSignature> FindAll(ReadOnlySpan<byte> head, ReadOnlySpan<byte> tail, long diskBytes)
    {
        List<DiskSignature> found = [];
        AddKnown(head, s_members, SignatureKind.Member, found);
        AddKnown(head, s_data, SignatureKind.Data, found);
        AddZfs(head, found);
        AddAtEnd(tail, diskBytes, found);
        if (HasAt(head, 510, [0x55, 0xAA]))
        {
            found.Add(new DiskSignature(510, 2, "an MBR partition table", SignatureKind.Data));
        }

        return [.. found.DistinctBy(static signature => signature.Offset)];
    }

    private static void AddKnown(
        ReadOnlySpan<byte> head, (long Offset, byte[] Magic, string Name)[] known, SignatureKind kind, List<DiskSignature> found)
    {
        foreach ((long offset, byte[] magic, string name) in known)
        {
            if (HasAt(head, offset, magic))
            {
                found.Add(new DiskSignature(offset, magic.Length, name, kind));
            }
        }
    }

    // ZFS keeps an array of überblocks in each of four labels; the first label's starts at 128 KiB.
    private static void AddZfs(ReadOnlySpan<byte> head, List<DiskSignature> found)
    {
        byte[] little = [0x0C, 0xB1, 0xBA, 0, 0, 0, 0, 0];
        byte[] big = [0, 0, 0, 0, 0, 0xBA, 0xB1, 0x0C];
        for (long at = 128 << 10; at < HeadBytes - (8 << 10); at += 1024)
        {
            if (HasAt(head, at, little) || HasAt(head, at, big))
            {
                found.Add(new DiskSignature(at, little.Length, "a ZFS member", SignatureKind.Member));
            }
        }
    }

    private static void AddAtEnd(ReadOnlySpan<byte> tail, long diskBytes, List<DiskSignature> found)
    {
        long start = diskBytes - tail.Length;
        (long Offset, byte[] Magic, string Name, SignatureKind Kind)[] known =
        [
            ((diskBytes & ~0xFFFFL) - 0x10000, s_md, "a Linux RAID member", SignatureKind.Member),
            (((diskBytes / Sector) - 16 & ~7L) * Sector, s_md, "a Linux RAID member", SignatureKind.Member),
            (diskBytes - Sector, s_ddf, "a DDF RAID member", SignatureKind.Member),
            (diskBytes - (257 * Sector), s_ddf, "a DDF RAID member", SignatureKind.Member),
            (diskBytes - (2 * Sector), Ascii("Intel Raid ISM Cfg Sig. "), "an Intel RAID member", SignatureKind.Member),
            (diskBytes - Sector, Ascii("EFI PART"), "a GPT partition table", SignatureKind.Data),
            (diskBytes - 4096, Ascii("EFI PART"), "a GPT partition table", SignatureKind.Data),
        ];
        foreach ((long offset, byte[] magic, string name, SignatureKind kind) in known)
        {
            if (HasAt(tail, offset - start, magic))
            {
                found.Add(new DiskSignature(offset, magic.Length, name, kind));
            }
        }
    }

    private static bool HasAt(ReadOnlySpan<byte> bytes, long offset, ReadOnlySpan<byte> magic) =>
        offset >= 0 && offset <= bytes.Length - magic.Length && bytes.Slice((int)offset, magic.Length).SequenceEqual(magic);

    private static byte[] Ascii(string text) => Encoding.Latin1.GetBytes(text);
}
