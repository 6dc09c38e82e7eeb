using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// The part of a disk's metadata that changes as one: written to the slot (epoch mod 64) of ring A, flushed, then of ring B,
/// flushed. The valid slot with the highest epoch counts; the slot of the newest valid epoch is never written over.
/// </summary>
public sealed record Superblock
{
    /// <summary>"TSSB".</summary>
    internal const uint Magic = 0x42535354;

    private const byte CleanFlag = 1;
    private const byte FormingFlag = 2;

    /// <summary>Layout of the body, for the documentation; offsets count from the start of the block.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (56, 12, "features: compatible, read-only compatible, incompatible"), (68, 8, "epoch"), (76, 8, "session promised"),
        (84, 1, "flags: 1 closed cleanly, 2 forming"), (85, 8, "journal sequence known durable"),
        (93, 32, "newest checkpoint: generation (8), root page (4), journal position (sequence 8, session 8, chain 4)"),
        (125, 32, "checkpoint before it, the same"), (157, 16, "view: rank (session 8, epoch 8)"), (173, 16, "view: rank synced"),
        (189, 16, "view: witness id"),
        (205, 0, "view: votes before: present (1), then witness id (16), count (1), disk numbers (2 each)"),
        (0, 0, "view: members: count (2), then disk number (2) and metadata role (1) each"),
        (0, 0, "with compatible feature 1: epoch held by all members (8), session that opens (number 8, token 8), count (1), then up to 3 sessions, newest first, the same"),
        (0, 0, "with incompatible feature 4: every member votes (1); votes before: present (1), then witness id (16), count (2), disk numbers (2 each), and none above; "
            + "members without a vote: count (2), disk numbers (2 each)"),
    ];

    /// <summary>Features the pool uses.</summary>
    public FeatureFlags Features { get; init; }

    /// <summary>Number of this version on this disk; rises with every write.</summary>
    public required ulong Epoch { get; init; }

    /// <summary>Highest session that this disk has promised to: no older one decides anything with its vote any more.</summary>
    public required ulong Session { get; init; }

    /// <summary>Whether the pool was closed in order after everything else had been written.</summary>
    public bool IsClean { get; init; }

    /// <summary>Whether the disk has not yet joined: a pool or a disk that was being added when the host stopped.</summary>
    public bool IsForming { get; init; }

    /// <summary>The journal is known to be durable up to this sequence.</summary>
    public ulong DurableSequence { get; init; }

    /// <summary>Newest checkpoint on this disk.</summary>
    public CheckpointRoot Checkpoint { get; init; }

    /// <summary>The checkpoint before it, intact too.</summary>
    public CheckpointRoot PreviousCheckpoint { get; init; }

    /// <summary>The pool's members.</summary>
    public required PoolView View { get; init; }

    /// <summary>The sessions that this member took part in.</summary>
    public MemberHistory History { get; init; } = MemberHistory.None;

    private static bool HasVotes(FeatureFlags features) => (features.Incompatible & FeatureFlags.MemberVotesFeature) != 0;

    private static bool HasHistory(FeatureFlags features) => (features.Compatible & FeatureFlags.MemberHistoryFeature) != 0;

    /// <summary>Writes the copy at byte <paramref name="offset"/> of a disk.</summary>
    public void Encode(Span<byte> block, PoolId pool, DiskId disk, long offset)
    {
        Invariant.That(HasVotes(Features) || !View.MembersVote, "A superblock names the feature that its view needs.");
        ByteWriter body = new(512);
        Features.Encode(body);
        body.U64(Epoch);
        body.U64(Session);
        body.U8((byte)((IsClean ? CleanFlag : 0) | (IsForming ? FormingFlag : 0)));
        body.U64(DurableSequence);
        Checkpoint.Encode(body);
        PreviousCheckpoint.Encode(body);
        View.Encode(body, votesApart: HasVotes(Features));
        if (HasHistory(Features))
        {
            History.Encode(body);
        }

        if (HasVotes(Features))
        {
            View.EncodeVotes(body);
        }

        new PoolBlock(pool, disk, offset / PoolBlock.Size).Seal(block, Magic, body.Written);
    }

    /// <summary>Reads the copy at byte <paramref name="offset"/> of a disk.</summary>
    public static BlockStatus Decode(ReadOnlySpan<byte> block, PoolId pool, DiskId disk, long offset, out Superblock? superblock)
    {
        superblock = null;
        BlockStatus status = new PoolBlock(pool, disk, offset / PoolBlock.Size).Open(block, Magic, out ReadOnlySpan<byte> bytes);
        if (status != BlockStatus.Intact)
        {
            return status;
        }

        ByteReader body = new(bytes);
        FeatureFlags features = FeatureFlags.Decode(ref body);
        ulong epoch = body.U64();
        ulong session = body.U64();
        byte flags = body.U8();
        Superblock read = new()
        {
            Features = features,
            Epoch = epoch,
            Session = session,
            IsClean = (flags & CleanFlag) != 0,
            IsForming = (flags & FormingFlag) != 0,
            DurableSequence = body.U64(),
            Checkpoint = CheckpointRoot.Decode(ref body),
            PreviousCheckpoint = CheckpointRoot.Decode(ref body),
            View = PoolView.Decode(ref body),
            History = HasHistory(features) ? MemberHistory.Decode(ref body) : MemberHistory.None,
        };
        read = HasVotes(features) ? read with { View = read.View.DecodeVotes(ref body) } : read;
        superblock = body.Failed ? null : read;
        return body.Failed ? BlockStatus.Damaged : BlockStatus.Intact;
    }
}
