using System.Text;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Tests.Formats;

public sealed class ForeignSignatureTests
{
    private const long DiskBytes = 64 << 20;

    public static TheoryData<string, long, string> Known { get; } = new()
    {
        { "MBR", 510, "55AA" },
        { "GPT", 512, Hex("EFI PART") },
        { "GPT", DiskBytes - 512, Hex("EFI PART") },
        { "ext", 0x438, "53EF" },
        { "XFS", 0, Hex("XFSB") },
        { "btrfs", 0x10040, Hex("_BHRfS_M") },
        { "NTFS", 3, Hex("NTFS    ") },
        { "FAT", 82, Hex("FAT32   ") },
        { "LVM", 0x218, Hex("LVM2 001") },
        { "LUKS", 0, "4C554B53BABE" },
        { "RAID", 4096, "FC4E2BA9" },
        { "RAID", DiskBytes - 65536, "FC4E2BA9" },
        { "RAID", DiskBytes - 8192, "FC4E2BA9" },
        { "DDF", DiskBytes - 512, "DE11DE11" },
        { "DDF", DiskBytes - (257 * 512), "DE11DE11" },
        { "Intel RAID", DiskBytes - 1024, Hex("Intel Raid ISM Cfg Sig. 1.3.00") },
        { "swap", 4086, Hex("SWAPSPACE2") },
        { "ZFS", (128 << 10) + 4096, "0CB1BA0000000000" },
    };

    [Theory]
    [MemberData(nameof(Known))]
    public void What_others_left_is_named(string name, long offset, string hex)
    {
        byte[] disk = new byte[DiskBytes];
        Convert.FromHexString(hex).CopyTo(disk, offset);
        Assert.Contains(name, Find(disk), StringComparison.OrdinalIgnoreCase);
    }

    [Fact]
    public void An_empty_disk_has_no_signature() => Assert.Equal("", Find(new byte[DiskBytes]));

    [Fact]
    public void All_signatures_are_listed_with_place_length_and_kind()
    {
        byte[] disk = new byte[DiskBytes];
        Encoding.ASCII.GetBytes("EFI PART").CopyTo(disk, 512);
        Encoding.ASCII.GetBytes("EFI PART").CopyTo(disk, DiskBytes - 512);
        Convert.FromHexString("FC4E2BA9").CopyTo(disk, 4096);
        (disk[510], disk[511]) = (0x55, 0xAA);
        Assert.Equal(
            [
                new DiskSignature(4096, 4, "a Linux RAID member", SignatureKind.Member), new DiskSignature(512, 8, "a GPT partition table", SignatureKind.Data),
                new DiskSignature(DiskBytes - 512, 8, "a GPT partition table", SignatureKind.Data),
                new DiskSignature(510, 2, "an MBR partition table", SignatureKind.Data),
            ],
            FindAll(disk));
    }

    private static string Find(byte[] disk) =>
        ForeignSignature.Find(disk.AsSpan(0, ForeignSignature.HeadBytes), disk.AsSpan(disk.Length - ForeignSignature.TailBytes), disk.Length);

    private static IReadOnlyList<DiskSignature> FindAll(byte[] disk) =>
        ForeignSignature.FindAll(disk.AsSpan(0, ForeignSignature.HeadBytes), disk.AsSpan(disk.Length - ForeignSignature.TailBytes), disk.Length);

    private static string Hex(string text) => Convert.ToHexString(Encoding.ASCII.GetBytes(text));
}
