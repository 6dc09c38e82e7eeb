using System.Globalization;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Blocks of the ring that no copy can give. The home is told that what it has of them is outdated, so that reading them is an error there, as it was
// here, until they are written or unmapped; the rest of the ring goes home as ever. The order is that of all destaging: the home's entries are
// durable before the tail passes the record, so that a crash in between finds the record, and the same loss, again.
//
// A block counts as lost when no copy gave it three times a second apart, while every copy that takes part gave its anchors: a disk that gives
// nothing is no reason to give up what it holds.

public sealed partial class WriteCache
{
    private const int ReadsMax = 3;
    private const int RangesNamedMax = 4;

    private readonly SortedSet<long> _lost = [];   // blocks taken home as lost and not written since
    private long _unsaid = -1;                     // a block that is lost and of which the home cannot say so; -1: none

    /// <summary>Takes a run home that could not be read as a whole.</summary>
    private async LaneTask<IoError> TakeSingly(CacheRing ring, int at, IoBuffer data, long offset)
    {
        List<int> missing = [.. Enumerable.Range(0, data.Length / BlockSize)];
        for (int i = 0; i < ReadsMax && missing.Count > 0; i++)
        {
            await (i == 0 ? _lane.Yield() : _lane.Delay(RetryNs));
            for (int m = missing.Count - 1; m >= 0 && !_closing; m--)
            {
                IoBuffer block = data.Slice(missing[m] * BlockSize, BlockSize);
                if (await ring.Read(_plan[at + missing[m]].Place.Position, block, Counters) == IoError.None)
                {
                    missing.RemoveAt(m);
                }
            }
        }

        bool isKnown = !_closing && (missing.Count == 0 || await ring.IsWithinReach());
        return isKnown ? await TakeAround(missing, data, offset) : _closing ? IoError.Cancelled : IoError.Io;
    }

    /// <summary>Writes what there is of a run home, and says there what is lost of it.</summary>
    private async LaneTask<IoError> TakeAround(List<int> missing, IoBuffer data, long offset)
    {
        IoError error = IoError.None;
        int next = 0;
        for (int i = 0; i < data.Length / BlockSize && error == IoError.None;)
        {
            int end = next < missing.Count ? missing[next] : data.Length / BlockSize;
            if (end > i)
            {
                IoBuffer part = data.Slice(i * BlockSize, (end - i) * BlockSize);
                error = NoteHome(await _home.Write(offset + (i * BlockSize), part, WriteFlags.None), offset + (i * BlockSize), part.Length);
                i = end;
            }
            else
            {
                error = await GiveUp((offset / BlockSize) + i);
                next++;
                i++;
            }
        }

        return error;
    }

    private async LaneTask<IoError> GiveUp(long block)
    {
        IoError error = await _home.Poison(block * BlockSize, BlockSize);
        _unsaid = error == IoError.NotSupported ? block : _unsaid;
        if (error == IoError.None)
        {
            _lost.Add(block);
            Counters.LostBytes += BlockSize;
            _medium!.ReportLost();
        }

        return error;
    }

    /// <summary>A range was written or zeroed at home, with this outcome: what was lost there is an error no more.</summary>
    private IoError NoteHome(IoError outcome, long offset, long length)
    {
        if (_lost.Count > 0 && outcome == IoError.None)
        {
            _lost.RemoveWhere(block => block * BlockSize >= offset && block * BlockSize < offset + length);
        }

        return outcome;
    }

    private string UnsaidReason() => string.Create(
        CultureInfo.InvariantCulture,
        $"the {BlockSize} bytes at {_unsaid * BlockSize} are lost on every copy; without checksums the home cannot say so, and nothing more goes home until they are written or unmapped");

    /// <summary>Whether something of it was lost since it was opened and has not been written since.</summary>
    public bool HasLostBlocks => _lost.Count > 0;

    /// <summary>What that is; empty when there is nothing.</summary>
    private string LossReason()
    {
        if (_lost.Count == 0)
        {
            return "";
        }

        IReadOnlyList<(long Offset, long Length)> ranges = CacheLoss.Merge(_lost.Select(block => (block * BlockSize, (block + 1) * BlockSize)));
        string named = string.Join(", ", ranges.Take(RangesNamedMax).Select(range => string.Create(CultureInfo.InvariantCulture, $"{range.Length} at {range.Offset}")));
        string more = ranges.Count > RangesNamedMax ? ", and more" : "";
        return string.Create(CultureInfo.InvariantCulture, $"{_lost.Count * (long)BlockSize} bytes of it were lost on every copy, and are errors until they are written: {named}{more}");
    }
}
