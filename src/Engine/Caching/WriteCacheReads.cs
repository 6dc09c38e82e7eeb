using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Caching;

public sealed partial class WriteCache
{
    private readonly int[] _readers = new int[2];   // reads of the ring under way, by the turn they began in
    private int _turn;

    /// <inheritdoc/>
    public void Expect(long offset) => _home.Expect(offset);

    /// <inheritdoc/>
    public LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        if (Refusal(offset, target.Length) is not IoError.None and var refused)
        {
            return LaneTask.FromResult(refused);
        }

        if (_index.Count == 0)
        {
            Counters.MissBytes += target.Length;
            return _home.Read(offset, target);
        }

        int length = RunAt(offset / BlockSize, target.Length / BlockSize, out CachePlace place) * BlockSize;
        if (length == target.Length && place.IsNone)
        {
            Counters.MissBytes += length;
            return _home.Read(offset, target);
        }

        return ReadRuns(offset, target);
    }

    private async LaneTask<IoError> ReadRuns(long offset, IoBuffer target)
    {
        int turn = _turn;
        _readers[turn]++;   // what the index names now stays readable until this ends
        Fan fan = Fan.Rent();
        for (int at = 0; at < target.Length;)
        {
            int length = RunAt((offset + at) / BlockSize, (target.Length - at) / BlockSize, out CachePlace place) * BlockSize;
            IoBuffer part = target.Slice(at, length).ForbidKeeping();
            if (place.IsNone)
            {
                Counters.MissBytes += length;
                fan.Add(_home.Read(offset + at, part));
            }
            else
            {
                Counters.HitBytes += length;
                ReadCached(place, part, fan);
            }

            at += length;
        }

        IoError error = await fan.Wait();
        _readers[turn]--;
        Invariant.That(_readers[turn] >= 0, "A reader of the ring ends once, in the turn in which it began.");
        return error;
    }

    private void ReadCached(CachePlace place, IoBuffer part, Fan fan)
    {
        if (place.IsZero)
        {
            part.Span.Clear();
        }
        else
        {
            fan.Add(_ring!.Read(place.Position, part, Counters));
        }
    }

    /// <summary>How many blocks from here on are alike: at home, zero, or one after another in a record.</summary>
    private int RunAt(long block, int most, out CachePlace place)
    {
        place = _index.Find(block);
        int count = 1;
        for (CachePlace next; count < most; count++)
        {
            next = _index.Find(block + count);
            bool follows = place.IsNone ? next.IsNone
                : place.IsZero ? !next.IsNone && next.IsZero
                : !next.IsNone && !next.IsZero && next.Position == place.Position + count;
            if (!follows)
            {
                break;
            }
        }

        return count;
    }

    /// <summary>Completes when every read that may have seen what was forgotten before has ended.</summary>
    private async LaneTask<Nothing> DrainReaders()
    {
        int turn = _turn;
        _turn = 1 - turn;
        while (_readers[turn] > 0)
        {
            await _lane.Delay(ReaderPollNs);
        }

        return default;
    }
}
