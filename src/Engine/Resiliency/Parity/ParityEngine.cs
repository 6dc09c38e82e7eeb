using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Executes single and dual parity.</summary>
internal sealed class ParityEngine : ILayoutEngine
{
    private readonly ParityJournal _journal;
    private readonly ParityLayout _layout;
    private readonly IntegrityStore _integrity;
    private readonly SpaceMembers _members;
    private readonly ParityReads _reads;
    private readonly ParityWrites _writes;
    private readonly ParityEntries _entries;
    private readonly ParityResync _resync;
    private readonly ParityScrub _scrub;
    private readonly ParityOpening _opening;

    internal ParityEngine(EngineParts parts)
    {
        ParityStrips strips = new(parts);
        ParityJournal journal = _journal = new(parts.Space, parts.Log, parts.Flusher);
        ParityCommits commits = new(parts, strips, journal);
        ResyncSize = parts.Space.Shape.RegionSize;
        _layout = (ParityLayout)parts.Space.Layout;
        _integrity = parts.Integrity;
        _members = parts.Space.Members;
        _reads = new ParityReads(parts, strips, commits);
        _writes = new ParityWrites(parts, strips, commits);
        _entries = new ParityEntries(parts, strips, _writes, commits);
        _resync = new ParityResync(parts, strips, journal, commits);
        _opening = new ParityOpening(parts, strips, journal, commits);
        _scrub = new ParityScrub(parts, strips, commits);
    }

    /// <inheritdoc/>
    public bool ZeroesWrite => true;

    /// <inheritdoc/>
    public long HedgesAsked => 0;

    /// <inheritdoc/>
    public long HedgesWon => 0;

    /// <inheritdoc/>
    public LaneTask<IoError> Create() => _opening.Create();

    /// <inheritdoc/>
    public LaneTask<IoError> Open() => _opening.Open();

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
    public async LaneTask<IoError> Status(SpaceRow row, StripPiece piece, List<StoreExtent> extents)
    {
        IoError error = IoError.None;
        foreach ((StripPiece strip, _) in _reads.StripsOf(piece))
        {
            error = error == IoError.None ? await _integrity.AppendStates(row, strip, extents) : error;
        }

        return error;
    }

    /// <inheritdoc/>
    public async LaneTask<Nothing> Punch(SpaceRow row, int column, int slabOffset, int length)
    {
        SlabPlace place = row.Places[column];
        await _members.Unmap(place.Disk, place.DataOffset + slabOffset, length);
        return default;
    }

    /// <inheritdoc/>
    public int ResyncSize { get; }

    /// <inheritdoc/>
    public int RebuildBuffers => _layout.Columns;

    /// <inheritdoc/>
    public bool RebuildMendsPoisoned => true;

    /// <inheritdoc/>
    public LaneTask<IoError> Resync(SpaceRow row, int region, int slabOffset, int length) => _resync.ResyncRegion(row, region);

    /// <inheritdoc/>
    public LaneTask<IoError> Rebuild(SpaceRow row, int position, StripPiece stretch, SlabPlace target) =>
        _resync.Rebuild(row, position, stretch, target);

    /// <inheritdoc/>
    public LaneTask<bool> Verify(SpaceRow row, StripPiece stretch, ScrubFindings findings) => _scrub.Verify(row, stretch, findings);

    /// <inheritdoc/>
    public LaneTask<IoError> VerifyLocked(SpaceRow row, StripPiece stretch, ScrubFindings findings) => _scrub.VerifyLocked(row, stretch, findings);

    /// <inheritdoc/>
    public bool IsStating => _journal.IsStating;

    /// <inheritdoc/>
    public bool HasDecided(in StripPiece block) => _opening.HasReplayed(block);
}
