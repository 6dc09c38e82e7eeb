using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Executes simple and mirror: equal copies of each column, one to three.</summary>
internal sealed class MirrorEngine : ILayoutEngine
{
    private readonly MirrorReads _reads;
    private readonly MirrorWrites _writes;
    private readonly MirrorEntries _entries;
    private readonly MirrorResync _resync;
    private readonly MirrorScrub _scrub;

    internal MirrorEngine(EngineParts parts)
    {
        FailedWrites failed = new(parts) { Read = ReadLocked };
        MirrorCopies copies = new(parts, failed);
        _reads = new MirrorReads(parts, copies, failed);
        _writes = new MirrorWrites(parts, copies, failed);
        _entries = new MirrorEntries(parts, copies, failed);
        _resync = new MirrorResync(parts, copies, _reads);
        _scrub = new MirrorScrub(parts, copies);
    }

    /// <inheritdoc/>
    public long HedgesAsked => _reads.HedgesAsked;

    /// <inheritdoc/>
    public long HedgesWon => _reads.HedgesWon;

    /// <inheritdoc/>
    public LaneTask<IoError> Read(SpaceRow row, StripPiece piece, IoBuffer target) => _reads.Read(row, piece, target);

    /// <inheritdoc/>
    public LaneTask<IoError> ReadLocked(SpaceRow row, StripPiece piece, IoBuffer target) => _reads.ReadLocked(row, piece, target);

    /// <inheritdoc/>
    public LaneTask<IoError> Write(SpaceRow row, StripPiece piece, IoBuffer source) => _writes.Write(row, piece, source);

    /// <inheritdoc/>
    public LaneTask<IoError> Zero(SpaceRow row, StripPiece piece) => _entries.Zero(row, piece);

    /// <inheritdoc/>
    public LaneTask<IoError> Poison(SpaceRow row, StripPiece piece) => _entries.Poison(row, piece);

    /// <inheritdoc/>
    public LaneTask<IoError> Status(SpaceRow row, StripPiece piece, List<StoreExtent> extents) => _entries.Status(row, piece, extents);

    /// <inheritdoc/>
    public LaneTask<Nothing> Punch(SpaceRow row, int column, int slabOffset, int length) => _entries.Punch(row, column, slabOffset, length);

    /// <inheritdoc/>
    public LaneTask<Nothing> PunchZeros(SpaceRow row, StripPiece piece) => _entries.PunchZeros(row, piece);

    /// <inheritdoc/>
    public int ResyncSize => _resync.PartSize;

    /// <inheritdoc/>
    public LaneTask<IoError> Resync(SpaceRow row, int region, int slabOffset, int length) => _resync.ResyncRegion(row, region, slabOffset, length);

    /// <inheritdoc/>
    public LaneTask<IoError> Rebuild(SpaceRow row, int position, StripPiece stretch, SlabPlace target) => _resync.Rebuild(row, position, stretch, target);

    /// <inheritdoc/>
    public LaneTask<bool> Verify(SpaceRow row, StripPiece stretch, ScrubFindings findings) => _scrub.Verify(row, stretch, findings);

    /// <inheritdoc/>
    public LaneTask<IoError> VerifyLocked(SpaceRow row, StripPiece stretch, ScrubFindings findings) => _scrub.VerifyLocked(row, stretch, findings);
}
