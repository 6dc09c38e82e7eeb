using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Tests.Formats;

public sealed class JobProgressTests
{
    private static readonly JobProgress s_sample = new()
    {
        Kind = JobKind.Repair,
        Subject = new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
        UtcTicks = 638_000_000_000_000_000,
        Step = "Verify",
        Cursor = 1L << 40,
        BytesProcessed = 1L << 39,
        ElapsedNs = 5,
    };

    [Fact]
    public void A_state_reads_back_as_it_was() => Assert.Equal(s_sample, JobProgress.TryDecode(s_sample.Encode()));

    [Fact]
    public void Limits_read_back_and_a_state_without_them_is_as_hosts_wrote_it_before()
    {
        foreach ((long bytes, long latency) in new[] { (1L << 41, 0L), (0, 20_000_000), (7, 9) })
        {
            JobProgress limited = s_sample with { BytesMax = bytes, LatencyTargetNs = latency };
            Assert.Equal(limited, JobProgress.TryDecode(limited.Encode()));
            Assert.Null(JobProgress.TryDecode(limited.Encode().AsSpan()[..^1]));
        }

        Assert.Equal("0101" + "0100000002000300" + "0405060708090A0B", Convert.ToHexString(s_sample.Encode()[..18]));
        Assert.Equal(16, (s_sample with { BytesMax = 1 }).Encode().Length - s_sample.Encode().Length);
        Assert.Equal(2, (s_sample with { BytesMax = 1 }).Encode()[0]);
    }

    [Fact]
    public void A_shorter_or_longer_state_and_another_version_are_not_resumed()
    {
        byte[] bytes = s_sample.Encode();
        for (int length = 0; length < bytes.Length; length++)
        {
            Assert.Null(JobProgress.TryDecode(bytes.AsSpan(0, length)));
        }

        Assert.Null(JobProgress.TryDecode([.. bytes, 0]));
        bytes[0]++;
        Assert.Null(JobProgress.TryDecode(bytes));
    }

    [Fact]
    public void No_changed_byte_makes_it_throw_or_gives_what_cannot_be()
    {
        byte[] bytes = s_sample.Encode();
        for (int at = 0; at < bytes.Length; at++)
        {
            for (int value = 0; value < 256; value++)
            {
                byte[] changed = (byte[])bytes.Clone();
                changed[at] = (byte)value;
                if (JobProgress.TryDecode(changed) is { } read)
                {
                    Assert.True(Enum.IsDefined(read.Kind) && read is { Cursor: >= 0, BytesProcessed: >= 0, ElapsedNs: >= 0, UtcTicks: >= 0 });
                }
            }
        }
    }
}
