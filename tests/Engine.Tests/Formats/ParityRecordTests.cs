using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Tests.Formats;

/// <summary>Parts of the blocks of a parity journal.</summary>
public sealed class ParityRecordTests
{
    private static readonly ParityRecordHead s_head = new(7, 3, 12, 65536, 8192, 0b1_0001, 0b10, 0b100);

    [Fact]
    public void Parts_are_read_as_they_were_written()
    {
        byte[] payload = new byte[ParityRecord.HeadSize + ParityRecord.DataHeadSize + 5 + ParityRecord.VoidSize + 3];
        ParityRecord.WriteHead(payload, s_head);
        ParityRecord.WriteData(payload.AsSpan(ParityRecord.HeadSize), [1, 2, 3, 4, 5]);
        ParityRecord.WriteVoid(payload.AsSpan(ParityRecord.HeadSize + ParityRecord.DataHeadSize + 5), 42);

        int offset = 0;
        Assert.True(ParityRecord.TryTake(payload, ref offset, out ParityPart begin));
        Assert.Equal((ParityPartKind.Begin, s_head), (begin.Kind, begin.Head));
        Assert.True(ParityRecord.TryTake(payload, ref offset, out ParityPart data));
        Assert.Equal([1, 2, 3, 4, 5], payload.AsSpan(data.Start, data.Count).ToArray());
        Assert.True(ParityRecord.TryTake(payload, ref offset, out ParityPart mark));
        Assert.Equal((ParityPartKind.Void, 42UL), (mark.Kind, mark.Head.VoidBefore));
        Assert.False(ParityRecord.TryTake(payload, ref offset, out _));
    }

    [Theory]
    [InlineData(ParityRecord.HeadSize - 1, 1)]
    [InlineData(3, 2)]
    [InlineData(8, 2)]
    [InlineData(ParityRecord.VoidSize - 1, 3)]
    [InlineData(60, 4)]
    public void A_part_that_does_not_fit_its_block_is_damage(int length, byte kind)
    {
        byte[] payload = new byte[length];
        payload[0] = kind;
        if (length == 8)
        {
            payload[2] = 5;
        }

        int offset = 0;
        Assert.Throws<InvalidDataException>(() => ParityRecord.TryTake(payload, ref offset, out _));
    }

    [Fact]
    public void Any_bytes_are_parts_or_damage()
    {
        Random random = new(1);
        byte[] payload = new byte[200];
        for (int i = 0; i < 20_000; i++)
        {
            random.NextBytes(payload);
            payload[0] = (byte)random.Next(5);
            int offset = 0;
            int before = -1;
            try
            {
                while (ParityRecord.TryTake(payload, ref offset, out ParityPart part))
                {
                    Assert.InRange(offset, before + 1, payload.Length);
                    Assert.InRange(part.Start + part.Count, 0, payload.Length);
                    before = offset;
                }
            }
            catch (InvalidDataException)
            {
            }
        }
    }
}
