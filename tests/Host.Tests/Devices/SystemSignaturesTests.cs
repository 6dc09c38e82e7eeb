using System.Text.Json;
using TierSpaces.Engine.Formats;
using TierSpaces.Host.Devices;

namespace TierSpaces.Host.Tests.Devices;

public sealed class SystemSignaturesTests
{
    [Fact]
    public void The_answer_of_the_program_is_read()
    {
        const string answer = """
            {"signatures":[
              {"offset":"0x200","length":8,"type":"gpt","usage":"partition-table"},
              {"offset":"0x7fffc00","length":"32","type":"isw_raid_member","usage":"raid"},
              {"offset":"0x0","length":6,"type":"crypto_LUKS","usage":"crypto"},
              {"offset":"0xff6","length":10,"type":"swap","usage":"other"},
              {"offset":"0x218","length":8,"type":"LVM2_member","usage":null}]}
            """;
        Assert.Equal(
            [
                new DiskSignature(512, 8, "a partition table (gpt)", SignatureKind.Data),
                new DiskSignature(0x7fffc00, 32, "metadata of a RAID or a volume group (isw_raid_member)", SignatureKind.Member),
                new DiskSignature(0, 6, "an encrypted volume (crypto_LUKS)", SignatureKind.Data),
                new DiskSignature(0xff6, 10, "swap space (swap)", SignatureKind.Data),
                new DiskSignature(0x218, 8, "a signature of other software (LVM2_member)", SignatureKind.Member),
            ],
            SystemSignatures.Read(answer));
    }

    [Fact]
    public void A_disk_without_signatures_is_an_empty_answer() => Assert.Empty(SystemSignatures.Read(""));

    [Fact]
    public void What_is_no_answer_is_refused() => Assert.ThrowsAny<JsonException>(() => SystemSignatures.Read("DEVICE OFFSET"));

    [Fact]
    public void A_file_that_is_not_there_has_no_answer() => Assert.Null(new SystemSignatures().List("/nowhere/at-all"));
}
