using FsCheck;
using FsCheck.Fluent;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Attaching.Kernel;

namespace TierSpaces.Host.Tests.Attaching.Kernel;

/// <summary>Generic netlink, with the one family every kernel has; and the messages to the family nbd.</summary>
public sealed class NetlinkTests : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;

    [Fact]
    public void The_kernel_knows_its_controller_and_its_group()
    {
        using NetlinkSocket netlink = new();
        Assert.Equal<ushort?>(16, netlink.FamilyOf("nlctrl"));
        netlink.Join("nlctrl", "notify");
        Assert.Equal([], netlink.News(TimeSpan.FromMilliseconds(1))!);
    }

    [Fact]
    public void What_the_kernel_does_not_have_is_told_apart()
    {
        using NetlinkSocket netlink = new();
        Assert.Null(netlink.FamilyOf("no such family"));
        AttachException noGroup = Assert.Throws<AttachException>(() => netlink.Join("nlctrl", "x"));
        Assert.Equal("netlink has no group x of nlctrl", noGroup.Message);
        AttachException noCommand = Assert.Throws<AttachException>(() => netlink.Ask("asking", 16, 200, new NetlinkAttributes()));
        Assert.StartsWith("asking: ", noCommand.Message);
    }

    [Fact]
    public void Attributes_are_read_as_they_were_written() =>
        Prop.ForAll(ArbMap.Default.ArbFor<uint>(), ArbMap.Default.ArbFor<ulong>(), ArbMap.Default.ArbFor<byte>(), (number, large, letters) =>
        {
            NetlinkAttributes nested = new NetlinkAttributes().Add(9, large);
            NetlinkAttributes written = new NetlinkAttributes().Add(1, number).Add(2, new string('x', letters)).Add(3, nested).Add(4, large);
            Dictionary<ushort, byte[]> read = NetlinkAttributes.Read(written.Bytes);
            return written.Bytes.Length % 4 == 0 && BitConverter.ToUInt32(read[1]) == number && read[2].Length == letters + 1
                && BitConverter.ToUInt64(NetlinkAttributes.Read(read[3])[9]) == large && BitConverter.ToUInt64(read[4]) == large;
        }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_message_with_any_byte_changed_and_any_end_cut_off_can_be_read()
    {
        NetlinkAttributes attributes = new NetlinkAttributes().Add(1, 5U).Add(2, new NetlinkAttributes().Add(3, "text"));
        byte[] whole = [.. NetlinkMessage.Request(16, 1, 1, attributes), .. NetlinkMessage.Request(2, 0, 1, new NetlinkAttributes())];
        foreach ((int position, byte value) in Enumerable.Range(0, whole.Length).SelectMany(i => (byte[])[0, 1, 3, 17, 255], (i, v) => (i, v)))
        {
            byte[] bytes = [.. whole];
            bytes[position] = value;
            for (int length = position + 1; length <= bytes.Length; length++)
            {
                IReadOnlyList<NetlinkMessage> messages = NetlinkMessage.Read(bytes.AsSpan(0, length));
                Assert.True(messages.Sum(message => 16 + message.Body.Length) <= length);
                Assert.All(messages, message => Assert.True(message.Attributes.Values.Sum(attribute => 4 + attribute.Length) <= length));
            }
        }

        Assert.Equal(2, NetlinkMessage.Read(whole).Count);
    }

    /// <summary>The numbers of linux/nbd-netlink.h, on a machine of little endian.</summary>
    [Fact]
    public void A_device_is_asked_for_as_the_driver_reads_it()
    {
        Assert.SkipUnless(BitConverter.IsLittleEndian, "the bytes here are those of a little-endian machine");
        using SmallNbdServer server = new(Path.Combine(_root, "s"));
        using ExportConnection export = ExportConnection.Open(Path.Combine(_root, "s"), server.ExportName);
        byte[] request = NetlinkMessage.Request(0x21, 1, 5, KernelNbd.Describe(export, 4096, "own"));
        string expected =
            "68000000 2100 0500 05000000 00000000 01 01 0000"      // length, family, flags, sequence, port; command, version
            + " 0C00 0200 0000300000000000"                        // size
            + " 0C00 0300 0010000000000000"                        // block size
            + " 0C00 0400 0000000000000000"                        // no time limit for requests
            + " 0C00 0500 6D01000000000000"                        // the server's flags
            + " 0C00 0800 3C00000000000000"                        // patience after a connection died
            + " 0800 0A00 6F776E00"                                // owner
            + $" 1000 0780 0C00 0180 0800 0100 {Convert.ToHexString(BitConverter.GetBytes(export.Descriptor))}";
        Assert.Equal(expected.Replace(" ", "", StringComparison.Ordinal), Convert.ToHexString(request));
    }

    [Fact]
    public void A_dead_connection_is_recognized()
    {
        Assert.Equal(3, KernelNbd.DeadIn(new NetlinkMessage(0x21, 0, [4, 1, 0, 0, .. new NetlinkAttributes().Add(1, 3U).Bytes])));
        Assert.Null(KernelNbd.DeadIn(new NetlinkMessage(0x21, 0, [5, 1, 0, 0, .. new NetlinkAttributes().Add(1, 3U).Bytes])));
        Assert.Null(KernelNbd.DeadIn(new NetlinkMessage(0x21, 0, [4, 1])));
    }

    public void Dispose() => Directory.Delete(_root, recursive: true);
}
