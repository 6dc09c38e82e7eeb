using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Verification by line: entries first, then the equation of the parity. It reads without the lock, since most of the time everything matches.
//
// Invariants
//  1. A strip is rewritten only under the lock, with bytes that match its entries.
//  2. Parity is renewed only from data that all match their entries.
//  3. Lines with a change that has failed half way, or with more positions out than there are parities, are left as they are: nothing of them counts as lost.

/// <summary>Verifies and heals a space with parity.</summary>
internal sealed class ParityScrub(EngineParts parts, ParityStrips strips, ParityCommits commits)
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly SpaceShape _shape = parts.Space.Shape;
    private readonly IntegrityStore _integrity = parts.Integrity;

    internal async LaneTask<bool> Verify(SpaceRow row, StripPiece stretch, ScrubFindings findings)
    {
        int end = Math.Min(stretch.SlabOffset + stretch.Length, _shape.UsableSize);
        bool matches = true;
        for (int at = stretch.SlabOffset; at < end && matches; at += _shape.Interleave)
        {
            ParityStretch lines = strips.Rent();
            matches = await lines.Begin(row, at, Math.Min(_shape.Interleave, end - at), _integrity) == IoError.None;
            if (!matches)
            {
                break;
            }

            bool isComplete = true;
            for (int strip = 0; strip < lines.Strips && matches; strip++)
            {
                bool isIn = strips.IsIn(lines, strip);
                isComplete &= isIn && !lines.HasMark(strip);
                matches = !isIn || await strips.ReadOwn(lines, strip);
                findings.NoteVerified(isIn && !lines.IsEmpty(strip) ? lines.Blocks : 0);
            }

            matches &= !isComplete || strips.IsParityOfData(lines);
            strips.Return(lines);
        }

        return matches;
    }

    internal async LaneTask<IoError> VerifyLocked(SpaceRow row, StripPiece stretch, ScrubFindings findings)
    {
        int end = Math.Min(stretch.SlabOffset + stretch.Length, _shape.UsableSize);
        for (int at = stretch.SlabOffset; at < end && parts.Space.Status.Fault == IoError.None; at += BlockSize)
        {
            ParityStretch line = strips.Rent();
            IoError error = await line.Begin(row, at, BlockSize, _integrity);
            if (error != IoError.None)
            {
                return error;
            }

            if (await commits.Settle(line) == IoError.None && strips.IsReadable(row, at))
            {
                await VerifyLine(line, findings);
            }

            strips.Return(line);
        }

        return parts.Space.Status.Fault;
    }

    private async LaneTask<Nothing> VerifyLine(ParityStretch line, ScrubFindings findings)
    {
        bool hasAll = true;
        for (int strip = 0; strip < line.DataStrips; strip++)
        {
            if (await strips.ReadOwn(line, strip))
            {
                strips.Prove(line, strip);
                continue;
            }

            bool isRebuilt = await strips.Rebuild(line, strip);
            hasAll &= isRebuilt;
            if (!strips.IsIn(line, strip))
            {
                continue;   // rebuilt by the repair
            }

            strips.NoteWrong(line, strip);
            if (isRebuilt)
            {
                findings.NoteHealed(await strips.Heal(line, strip) ? 1 : 0);
            }
            else if (await strips.IsFinal(line))
            {
                strips.MarkLost(line, strip);
                findings.NoteLost();
            }
        }

        for (int strip = line.DataStrips; strip < line.Strips && hasAll; strip++)
        {
            await VerifyParity(line, strip, findings);
        }

        return default;
    }

    private async LaneTask<Nothing> VerifyParity(ParityStretch line, int strip, ScrubFindings findings)
    {
        if (!strips.IsIn(line, strip) || line.IsEmpty(strip))
        {
            return default;
        }

        bool matches = await strips.ReadOwn(line, strip) && !line.HasMark(strip);
        if (matches && strips.IsParityOfData(line, strip))
        {
            return default;
        }

        strips.NoteWrong(line, strip);
        ParityMath.Fastest.Reconstruct(line.Data, line.P, line.Q, strip);
        uint checksum = line.ComputeChecksums(strip)[0];
        ChecksumPage page = line.PageOf(strip);
        if (checksum != page.Checksums[line.FirstBlock] || line.HasMark(strip))
        {
            page.Set(line.FirstBlock, checksum);
            parts.Changes.Note(page, 1);
        }

        line.SetHeld(strip);
        findings.NoteHealed(await strips.Heal(line, strip) ? 1 : 0);
        return default;
    }
}
