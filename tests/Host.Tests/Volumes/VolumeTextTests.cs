using TierSpaces.Contracts;
using TierSpaces.Host.Volumes;
using TierSpaces.Host.Volumes.FileSystems;

namespace TierSpaces.Host.Tests.Volumes;

/// <summary>Texts of programs and of the kernel, and texts of users.</summary>
public sealed class VolumeTextTests
{
    [Fact]
    public void A_gpt_is_read()
    {
        DiskContents table = PartitionTable.Parse(
            """
            {"partitiontable": {"label":"gpt", "id":"32FA5600-C209-D744-9407-CE3DE1D81F12", "device":"/dev/loop1",
             "unit":"sectors", "firstlba":6, "lastlba":131066,
             "sectorsize":4096, "partitions": [
              {"node":"/dev/loop1p2", "start":4352, "size":256, "type":"0FC63DAF-8483-4772-8E79-3D69D8477DE4",
               "uuid":"2F45562E-543B-7647-BDBF-88CA44A88A6D", "attrs":"RequiredPartition GUID:60,63"},
              {"node":"/dev/loop1p1", "start":256, "size":4096, "type":"EBD0A0A2-B9E5-4433-87C0-68B6B72699C7",
               "uuid":"2F45562E-543B-7647-BDBF-88CA44A88A6C", "name":"x"}]}}
            """,
            "/dev/loop1", 536870912, 4096, false);
        Assert.Equal((PartitionStyle.GPT, "{32fa5600-c209-d744-9407-ce3de1d81f12}", null), (table.Style, table.Guid, table.Signature));
        Assert.Equal((1 << 20, 131067L * 4096), table.Usable);
        Assert.Equal([1, 2], table.Partitions.Select(partition => partition.Number));
        Assert.Equal((1 << 20, 16 << 20), (table.Partitions[0].Offset, table.Partitions[0].Size));
        Assert.Equal(["Basic", "Linux"], table.Partitions.Select(PartitionType.WordOf));
        Assert.Equal((true, false, true), (table.Partitions[1].IsReadOnly, table.Partitions[1].IsHidden, table.Partitions[1].Attributes.Contains(63)));
    }

    [Fact]
    public void An_mbr_is_read()
    {
        DiskContents table = PartitionTable.Parse(
            """
            {"partitiontable": {"label":"dos", "id":"0x1234abcd", "device":"/dev/nbd0", "unit":"sectors", "sectorsize":512,
             "partitions": [{"node":"/dev/nbd0p1", "start":2048, "size":4096, "type":"6", "bootable":true},
              {"node":"/dev/nbd0p3", "start":8192, "size":64, "type":"17"}]}}
            """,
            "/dev/nbd0", 64 << 20, 512, false);
        Assert.Equal((PartitionStyle.MBR, 0x1234abcdU, null), (table.Style, table.Signature, table.Guid));
        Assert.Equal([("Huge", true, false), ("Unknown", false, true)], table.Partitions.Select(one => (PartitionType.WordOf(one), one.IsActive,
            one.IsHidden)));
        Assert.Equal(["{00000000-0000-0000-0000-000000100000}", "{00000000-0000-0000-0000-000000400000}"], table.Partitions.Select(one => one.Key));
    }

    [Theory]
    [InlineData("", 512, 200 << 20, true, (200 << 20) - (33 * 512))]
    [InlineData("", 4096, 200 << 20, true, (200 << 20) - (5 * 4096))]
    [InlineData("\"table-length\":256, ", 512, 200 << 20, true, (200 << 20) - (65 * 512))]
    [InlineData("", 512, 200 << 20, false, 10 * 512)]
    [InlineData("", 512, 1 << 20, true, (1 << 20) - (33 * 512))]
    [InlineData("", 512, 4096, true, 10 * 512)]
    public void Partitions_of_a_gpt_may_use_a_device_that_was_made_larger(string length, int sectorSize, long bytes, bool isGrown, long end)
    {
        string text = $$$"""{"partitiontable": {"label":"gpt", "id":"32FA5600-C209-D744-9407-CE3DE1D81F12", {{{length}}}"firstlba":6, "lastlba":9}}""";
        Assert.Equal(end, PartitionTable.Parse(text, "/dev/loop1", bytes, sectorSize, isGrown).Usable.End);
    }

    [Fact]
    public void A_table_that_cannot_be_read_is_an_error() =>
        Assert.Equal("Failed", Assert.Throws<StorageException>(() => PartitionTable.Parse("{}", "/dev/loop1", 1, 512, false)).Error.Word);

    [Fact]
    public void Findings_of_several_devices_are_told_apart()
    {
        Dictionary<string, Dictionary<string,
            string>> found = ProbeText.Parse("DEVNAME=/dev/loop1p1\nLABEL=my\\ data\nTYPE=ext4\n\nDEVNAME=/dev/loop1p2\nTYPE=xfs\n");
        Assert.Equal(("my data", "ext4", "xfs"), (found["/dev/loop1p1"]["LABEL"], found["/dev/loop1p1"]["TYPE"], found["/dev/loop1p2"]["TYPE"]));
    }

    [Fact]
    public void Mounts_are_read_with_blanks_in_their_names()
    {
        List<Mount> mounts = MountTable.Parse(
        [
            @"36 35 98:0 / /mnt/a\040b\134c rw,noatime shared:1 - ext4 /dev/loop1p1 rw", @"37 35 0:44 /sub /mnt/b rw - btrfs /dev/loop1p2 rw", "garbage",
        ]);
        Assert.Equal([new Mount("98:0", "/dev/loop1p1", "/", @"/mnt/a b\c", "ext4"), new Mount("0:44", "/dev/loop1p2", "/sub", "/mnt/b", "btrfs")], mounts);
        Assert.Equal("/mnt/b", Assert.Single(MountTable.Of(mounts, "/dev/loop1p2")).Path);
    }

    [Theory]
    [InlineData("E", "E")]
    [InlineData("e:", "E")]
    [InlineData(@"z:\", "Z")]
    public void A_drive_letter_is_read(string text, string letter) => Assert.Equal(letter, DriveLetter.Parse(text, "DriveLetter"));

    [Theory]
    [InlineData("")]
    [InlineData("1")]
    [InlineData("EF")]
    [InlineData("é")]
    public void What_is_no_drive_letter_is_refused(string text)
    {
        StorageErrorInfo error = Assert.Throws<StorageException>(() => DriveLetter.Parse(text, "DriveLetter")).Error;
        Assert.Equal($"-DriveLetter '{text}': is no drive letter. Valid: A to Z.", error.ExtendedInformation);
    }

    [Fact]
    public void The_first_free_letter_is_assigned_from_D_on()
    {
        Assert.Equal("D", DriveLetter.FirstFree(["A", "C"]));
        Assert.Equal("F", DriveLetter.FirstFree(["D", "E", "Z"]));
        Assert.Equal("AccessPathInUse", Assert.Throws<StorageException>(() => DriveLetter.FirstFree("DEFGHIJKLMNOPQRSTUVWXYZ".Select(letter =>
            $"{letter}"))).Error.Word);
    }

    [Fact]
    public void An_access_path_is_a_letter_or_an_empty_folder()
    {
        string root = Directory.CreateTempSubdirectory("ts").FullName;
        File.WriteAllText(Path.Combine(root, "file"), "");
        Assert.Equal(("E", null), AccessPath.Parse("e:"));
        Assert.Equal((null, "/mnt/x"), AccessPath.Parse("/mnt/x/"));
        Assert.False(AccessPath.Check(Path.Combine(root, "new")));
        foreach (string wrong in new[] { root, Path.Combine(root, "file"), "relative", "/", root + "/../x" })
        {
            Assert.Equal("AccessPathInvalid", Assert.Throws<StorageException>(() => AccessPath.Check(wrong)).Error.Word);
        }

        Directory.Delete(root, recursive: true);
    }

    [Fact]
    public void A_file_system_of_Windows_is_made_as_a_local_one()
    {
        FileSystemChoice plain = new FileSystemChoice(new VolumeTools(static name => "/bin/" + name), "");
        Assert.Equal([("ntfs", null), ("xfs", "ReFS"), ("xfs", "CSVFS_ReFS"), ("ext4", "CSVFS_NTFS"), ("btrfs", null), ("ext4", null)],
            ((string?[])["NTFS", "refs", "CSVFS_ReFS", "CSVFS_NTFS", "Btrfs", null]).Select(name => plain.Choose(name)).Select(chosen => (chosen.Kind.Name,
                chosen.StandsFor)));
        FileSystemChoice poor = new FileSystemChoice(new VolumeTools(static name => name == "mkfs.btrfs" ? "/bin/x" : null), "btrfs");
        Assert.Equal(("btrfs", "NTFS"), (poor.Choose("NTFS").Kind.Name, poor.Choose("NTFS").StandsFor));
        Assert.Equal(["btrfs", "NTFS", "ReFS", "CSVFS_NTFS", "CSVFS_ReFS"], poor.Supported());
        Assert.Equal("FileSystemNotSupported", Assert.Throws<StorageException>(() => plain.Choose("FAT32")).Error.Word);
        Assert.Throws<FormatException>(() => FileSystemChoice.Parse("NTFS"));
    }

    [Fact]
    public void Limits_of_file_systems_are_checked_before_anything_is_done()
    {
        FileSystemKind ext4 = FileSystemChoice.Find("ext4")!;
        ext4.CheckLabel("0123456789abcdef");
        Assert.Contains("has 17 bytes", Assert.Throws<StorageException>(() => ext4.CheckLabel("0123456789abcdefg")).Error.ExtendedInformation);
        Assert.Equal("ClusterSize", Assert.Throws<StorageException>(() => ext4.CheckClusterSize(1024, 4096)).Error.Word);
        ext4.CheckClusterSize(1024, 512);
        Assert.Equal("SizeNotSupported", Assert.Throws<StorageException>(() => FileSystemChoice.Find("xfs")!.CheckSize(299 << 20)).Error.Word);
        FileSystemKind ntfs = FileSystemChoice.Find("ntfs")!;
        ntfs.CheckSize(16 << 20, 1 << 20);
        Assert.Equal("ClusterSize", Assert.Throws<StorageException>(() => ntfs.CheckSize((16 << 20) - 1, 1 << 20)).Error.Word);
        Assert.Equal("SizeNotSupported", Assert.Throws<StorageException>(() => ntfs.CheckSize(1 << 20, 4096)).Error.Word);
    }

    [Theory]
    [InlineData("ext4", null, null, 65536u, 512, null, 1)]
    [InlineData("ext4", null, null, 2u << 20, 512, null, 1)]
    [InlineData("ext4", null, null, 2048u, 512, 2048u, 0)]
    [InlineData("ext4", null, null, 3000u, 512, 3000u, 0)]
    [InlineData("ext4", null, null, null, 512, null, 0)]
    [InlineData("ext4", "ext4", null, 65536u, 512, 65536u, 0)]
    [InlineData("ext4", "NTFS", "NTFS", 65536u, 512, null, 1)]
    [InlineData("xfs", "ReFS", "ReFS", 65536u, 512, null, 1)]
    [InlineData("xfs", "ReFS", "ReFS", 8192u, 512, 8192u, 0)]
    [InlineData("ntfs", "NTFS", null, 65536u, 512, 65536u, 0)]
    [InlineData("ext4", null, null, 1024u, 4096, null, 1)]
    [InlineData("ext4", "NTFS", "NTFS", 2048u, 4096, null, 1)]
    [InlineData("ext4", "ext4", null, 1024u, 4096, 1024u, 0)]
    [InlineData("xfs", "ReFS", "ReFS", 1024u, 4096, 1024u, 0)]
    [InlineData("ntfs", "NTFS", null, 512u, 4096, 512u, 0)]
    public void A_size_of_an_allocation_unit_that_only_Windows_has_becomes_the_default(
        string kind, string? requested, string? standsFor, uint? size, int sectorSize, uint? expected, int remarks)
    {
        List<string> said = [];
        Assert.Equal(expected, FileSystemChoice.ClusterSize(FileSystemChoice.Find(kind)!, requested, standsFor, size, sectorSize, said.Add));
        Assert.Equal(remarks, said.Count);
    }

    [Fact]
    public void The_stripe_is_passed_to_mkfs()
    {
        FormatPlan plan = new FormatPlan("/dev/x", 2L << 30, "l", null, new StripeGeometry(256 << 10, 3), NoTrim: true);
        Assert.Contains("stride=64,stripe_width=192,nodiscard", FileSystemChoice.Find("ext4")!.MakeWords(plan));
        Assert.Contains("su=262144,sw=3", FileSystemChoice.Find("xfs")!.MakeWords(plan));
        Assert.Contains("-K", FileSystemChoice.Find("btrfs")!.MakeWords(plan));
    }
}
