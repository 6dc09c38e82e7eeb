using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Formats;

/// <summary>Labels, superblocks, journal blocks, checkpoint pages and the witness file: whole and in place, or not believed.</summary>
public sealed class PoolBlockTests
{
    private const int CasesPerKind = 20_000;

    private static readonly PoolId s_pool = new(new Guid("11111111-2222-3333-4444-555555555555"));
    private static readonly DiskId s_disk = new(new Guid("66666666-7777-8888-9999-aaaaaaaaaaaa"));

    public static PoolView View { get; } = new()
    {
        Rank = new ViewRank(3, 70),
        Synced = new ViewRank(2, 60),
        Members = [new(new DiskNumber(1), true), new(new DiskNumber(2), true), new(new DiskNumber(5), false)],
        Witness = new Guid("01020304-0506-0708-090a-0b0c0d0e0f10"),
        Prior = new VoteSet([new DiskNumber(1), new DiskNumber(2), new DiskNumber(3)], new Guid("01020304-0506-0708-090a-0b0c0d0e0f10")),
    };

    internal static Superblock Superblock { get; } = new()
    {
        Epoch = 71, Session = 4, IsClean = true, DurableSequence = 99, View = View,
        Checkpoint = new CheckpointRoot(7, 12, new JournalPosition(90, 3, 0xABCDEF01)),
        PreviousCheckpoint = new CheckpointRoot(6, 40, new JournalPosition(70, 3, 0x12345678)),
        Features = new FeatureFlags(FeatureFlags.MemberHistoryFeature, 0, 0), History = History,
    };

    internal static MemberHistory History => new()
    {
        HeldByAll = 70, Opening = new SessionToken(4, 44), Sessions = [new SessionToken(3, 33), new SessionToken(2, 22), new SessionToken(1, 11)],
    };

    internal static DiskLabel Label { get; } = new(
        s_pool, s_disk, new DiskNumber(5), 64 << 20, new SlabGeometry(1 << 20), 638_000_000_000_000_000, default);

    internal static LeaseBlock Lease { get; } = new(
        new SessionToken(4, 44), new HostIdentity(new Guid("0a0b0c0d-0e0f-1011-1213-141516171819"), new Guid("1a1b1c1d-1e1f-2021-2223-242526272829"), "alpha"),
        Counter: 17, UtcTicks: 638_000_000_000_000_000, LeaseState.Serving, ClaimsHash: 0x1122334455667788);

    internal static LeaseClaim Claim { get; } = new(new SessionToken(5, 55), new Guid("2a2b2c2d-2e2f-3031-3233-343536373839"));

    internal static byte[] Make(string kind)
    {
        byte[] block = new byte[PoolBlock.Size];
        switch (kind)
        {
            case "label":
                Label.Encode(block, 0);
                break;
            case "superblock":
                Superblock.Encode(block, s_pool, s_disk, 8192);
                break;
            case "journal block":
                new MetadataBlock(3, 91, 90, 0xABCDEF01, 0, 2).Encode(block, Place, new byte[] { 1, 2, 3 });
                break;
            case "checkpoint page":
                new CheckpointPage(7, new PageKey(PageKind.Rows, default, 4, 2)).Encode(block, Place, new byte[] { 4, 5, 6 });
                break;
            case "lease":
                Lease.Encode(block, Place);
                break;
            case "claim":
                Claim.Encode(block, Place);
                break;
            default:
                return new WitnessRecord(s_pool, View.Witness, 4, View) { History = History }.Encode();
        }

        return block;
    }

    private static PoolBlock Place => new(s_pool, s_disk, 2);

    [Theory]
    [InlineData("label")]
    [InlineData("superblock")]
    [InlineData("journal block")]
    [InlineData("checkpoint page")]
    [InlineData("witness")]
    [InlineData("lease")]
    [InlineData("claim")]
    public void A_flipped_byte_is_never_believed(string kind)
    {
        byte[] whole = Make(kind);
        Assert.True(Reads(kind, whole, Place));
        Random random = new(3);
        for (int i = 0; i < CasesPerKind; i++)
        {
            byte[] block = (byte[])whole.Clone();
            block[i % block.Length] ^= (byte)random.Next(1, 256);
            Assert.False(Reads(kind, block, Place), $"byte {i % block.Length}");
        }
    }

    [Theory]
    [InlineData("superblock")]
    [InlineData("journal block")]
    [InlineData("checkpoint page")]
    [InlineData("lease")]
    [InlineData("claim")]
    public void A_block_of_another_pool_disk_or_place_is_not_believed(string kind)
    {
        byte[] whole = Make(kind);
        Assert.False(Reads(kind, whole, Place with { Number = 3 }));
        Assert.False(Reads(kind, whole, Place with { Disk = new DiskId(default) }));
        Assert.False(Reads(kind, whole, Place with { Pool = new PoolId(default) }));
    }

    // The checksum of the block is right: what was changed was changed before it was computed.
    [Fact]
    public void A_journal_block_that_is_not_what_its_chain_says_is_not_believed()
    {
        byte[] block = Make("journal block");
        block[92] ^= 1;
        block.AsSpan(48, 4).Clear();
        BitConverter.TryWriteBytes(block.AsSpan(48), Crc32c.Compute(block));
        Assert.False(Reads("journal block", block, Place));
    }

    [Fact]
    public void A_superblock_comes_back_as_it_was()
    {
        Assert.Equal(BlockStatus.Intact, Superblock.Decode(Make("superblock"), s_pool, s_disk, 8192, out Superblock? read));
        Assert.Equal(Superblock with { View = read!.View, History = read.History }, read);
        Assert.Equal((History.HeldByAll, History.Opening), (read.History.HeldByAll, read.History.Opening));
        Assert.Equal(History.Sessions.AsEnumerable(), read.History.Sessions);
        Assert.Equal((View.Rank, View.Synced, View.Witness), (read.View.Rank, read.View.Synced, read.View.Witness));
        Assert.Equal(View.Members.AsEnumerable(), read.View.Members);
        Assert.Equal(View.Prior!.Disks.AsEnumerable(), read.View.Prior!.Disks);
    }

    [Fact]
    public void A_lease_and_a_claim_come_back_as_they_were_and_fit_into_a_sector()
    {
        Assert.Equal(Lease, LeaseBlock.Decode(Make("lease"), Place));
        Assert.Equal(Claim, LeaseClaim.Decode(Make("claim"), Place));
        byte[] longest = new byte[PoolBlock.Size];
        LeaseBlock named = Lease with { Host = Lease.Host with { Name = new string('\u20AC', HostIdentity.NameMax) }, State = LeaseState.Closed };
        named.Encode(longest, Place);
        Assert.Equal(named, LeaseBlock.Decode(longest, Place));
        Assert.True(longest.AsSpan(512).IndexOfAnyExcept((byte)0) < 0, "A device with sectors of 512 bytes can tear it.");
    }

    // A release that knows no votes of members reads all of it but these, and says which release it needs.
    [Fact]
    public void The_votes_of_members_are_written_behind_what_older_releases_read()
    {
        DiskNumber[] disks = [.. Enumerable.Range(1, PoolView.MaxMembers).Select(static disk => new DiskNumber((ushort)disk))];
        PoolView view = View with
        {
            MembersVote = true, Members = [.. disks.Select(static disk => new ViewMember(disk, disk.Value <= 5))],
            Prior = new VoteSet([.. disks], View.Witness),
            Joining = [.. disks[1..]],   // more cannot be
        };
        byte[] block = new byte[PoolBlock.Size];
        FeatureFlags features = new(FeatureFlags.MemberHistoryFeature, 0, FeatureFlags.MemberVotesFeature);
        (Superblock with { View = view, Features = features }).Encode(block, s_pool, s_disk, 8192);
        Assert.Equal(BlockStatus.Intact, Superblock.Decode(block, s_pool, s_disk, 8192, out Superblock? read));
        Assert.True(read!.View.MembersVote);
        Assert.Equal(disks, read.View.Prior!.Disks);
        Assert.Equal(disks.Except(view.Joining), read.View.Votes.Disks);
        Assert.Equal(5, read.View.CopiesToCommit);
        Assert.Equal(0, block[205]);   // "votes before" of older releases: absent

        WitnessRecord? witness = WitnessRecord.Decode(
            new WitnessRecord(s_pool, view.Witness, 4, view) { History = History }.Encode(), s_pool, view.Witness);
        Assert.True(witness!.View.MembersVote);
        Assert.Equal(disks, witness.View.Prior!.Disks);
    }

    [Fact]
    public void A_label_of_a_newer_release_is_told_from_a_damaged_one()
    {
        byte[] block = Make("label");
        block[4] = 2;
        block.AsSpan(48, 4).Clear();
        BitConverter.TryWriteBytes(block.AsSpan(48), Crc32c.Compute(block));
        Assert.Equal(BlockStatus.Newer, DiskLabel.Decode(block, 0, out _));
    }

    // Checksums that an attacker has corrected: decoding still ends, and returns no impossible values.
    [Fact]
    public void Made_up_contents_are_refused_or_possible()
    {
        Random random = new(4);
        for (int i = 0; i < CasesPerKind; i++)
        {
            byte[] block = Make("superblock");
            for (int change = random.Next(1, 6); change > 0; change--)
            {
                block[random.Next(52, 300)] = (byte)random.Next(256);
            }

            block.AsSpan(48, 4).Clear();
            BitConverter.TryWriteBytes(block.AsSpan(48), Crc32c.Compute(block));
            if (Superblock.Decode(block, s_pool, s_disk, 8192, out Superblock? read) == BlockStatus.Intact)
            {
                Assert.InRange(read!.View.MetadataDisks.Length, 1, PoolView.MaxMetadataDisks);
                Assert.InRange(read.View.Members.Length, 1, PoolView.MaxMembers);
                Assert.DoesNotContain(read.View.Members, static member => member.Disk == DiskNumber.None);
            }
        }
    }

    private static bool Reads(string kind, byte[] block, PoolBlock place) => kind switch
    {
        "label" => DiskLabel.Decode(block, 0, out _) == BlockStatus.Intact,
        "superblock" => Superblock.Decode(block, place.Pool, place.Disk, place.Number * PoolBlock.Size, out _) == BlockStatus.Intact,
        "journal block" => MetadataBlock.TryDecode(block, place, out _, out _, out _),
        "checkpoint page" => CheckpointPage.TryDecode(block, place, out _, out _),
        "lease" => LeaseBlock.Decode(block, place) is not null,
        "claim" => LeaseClaim.Decode(block, place) is not null,
        _ => WitnessRecord.Decode(block, s_pool, View.Witness) is not null,
    };
}
