using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Caching;

// Taking home what the ring holds, in rounds:
//
//  1. The ring is flushed up to the end of the round: only what is durable there goes home.
//  2. The newest version of each block in these records, unless a later durable record has a newer one, sorted by address, in runs.
//  3. The home is flushed and its entries are logged, durably.
//  4. An anchor with the new tail is made durable on every live copy.
//  5. The blocks whose newest version was in these records are forgotten; when their readers have ended the space is free.

public sealed partial class WriteCache
{
    private const long IdlePollNs = 20_000_000;
    private const long ReaderPollNs = 50_000;
    private const long RetryNs = 1_000_000_000;
    private const int RunBlocksMax = 256;              // 1 MiB
    private const int RoundBlocksMax = 8192;           // 32 MiB
    private const int RunsInFlightMax = 16;
    private const int HoldStartPercent = 80;

    private readonly List<CachedBlock> _plan = [];     // what goes home in this round
    private readonly LaneSignal _work = new();         // something may have to go home now
    private readonly LaneSignal _runEnded = new();
    private readonly LaneSignal _destageEnded = new();
    private int _runsInFlight;
    private long _runsTaken;                           // runs that have been written to the home
    private long _runsFlushed;                         // how many of them a flush of the home has covered
    private IoError _runError;
    private bool _isAboveStart;                        // from the start mark until the stop mark
    private bool _isDraining;                          // everything goes home, nothing is taken
    private bool _isDestaging;                         // the loop runs
    private int _failedRounds;
    private long _paceNs;                              // when the next run may begin
    private int _heldMinute = -1;                      // minute of the day that was looked at last
    private bool _isHoldTime;                          // the time up to which writes are held has come

    /// <summary>Brings everything home and takes nothing meanwhile, until <see cref="Resume"/>.</summary>
    internal async LaneTask<IoError> Drain()
    {
        _isDraining = true;
        int failures = _failedRounds;
        while (_ring is { Used: > 0 } && _home.Fault == IoError.None && !_closing && failures == _failedRounds)
        {
            await NextFreed();
        }

        return _closing ? IoError.Cancelled : failures != _failedRounds ? IoError.Io : _home.Fault;
    }

    /// <summary>Takes writes again after <see cref="Drain"/>.</summary>
    internal void Resume()
    {
        HoldRows();
        _medium?.Resume();
        _isDraining = false;
        _freed.NotifyAll();
    }

    /// <summary>Has destaging look again, and completes when it has given space free or the state has changed.</summary>
    private LaneTask<Nothing> NextFreed()
    {
        LaneTask<Nothing> freed = _freed.Wait();   // before it can happen
        _work.NotifyAll();
        return freed;
    }

    private async LaneTask Destage()
    {
        _isDestaging = true;
        while (!_closing && _home.Fault == IoError.None && _ring is { } ring)
        {
            long goal = Goal(ring);
            if (goal < ring.Used)
            {
                await Round(ring, goal);
                await _lane.Yield();
            }
            else if (ring.Used > 0)
            {
                await _lane.Delay(IdlePollNs);
            }
            else
            {
                await _work.Wait();
            }
        }

        _isDestaging = false;
        _destageEnded.NotifyAll();
        _freed.NotifyAll();
    }

    /// <summary>Blocks of the ring that may stay in use for now.</summary>
    private long Goal(CacheRing ring)
    {
        if (_isDraining || State == WriteCacheState.Retiring || HoldTimeCame())
        {
            return 0;
        }

        int start = Settings.Hold ? HoldStartPercent : Settings.StartPercent;
        long stop = Settings.StopPercent * ring.Length / 100;
        _isAboveStart = _isAboveStart ? ring.Used > stop : ring.Used * 100 >= start * ring.Length;
        bool isIdle = !Settings.Hold && _lane.NowNs - LastWriteNs >= Settings.IdleNs;
        return isIdle ? 0 : _waiting > 0 ? Math.Min(stop, ring.Used - 1) : _isAboveStart ? stop : long.MaxValue;
    }

    /// <summary>Whether the time of day has come up to which writes are held: from then on until everything is home.</summary>
    private bool HoldTimeCame()
    {
        if (!Settings.Hold || Settings.HoldUntil < 0)
        {
            _isHoldTime = false;
            return false;
        }

        int minute = _options.MinuteOfDay();
        _isHoldTime |= minute == Settings.HoldUntil && _heldMinute != minute;
        _isHoldTime &= _ring!.Used > 0;
        _heldMinute = minute;
        return _isHoldTime;
    }

    private async LaneTask<Nothing> Round(CacheRing ring, long goal)
    {
        (int records, long end, uint checksum) = Choose(ring, goal);
        _unsaid = -1;
        bool isRetiring = State == WriteCacheState.Retiring;   // nothing is written to the ring any more, and nothing of it used again
        IoError error = ring.Durable < end && !isRetiring ? await FlushRing(ring) : IoError.None;
        if (error == IoError.None)
        {
            Invariant.That(isRetiring || end <= ring.Durable, "Only durable records go home.");
            PlanRound(ring, records);
            error = await TakeHome(ring);
        }

        error = error == IoError.None ? await FlushHome() : error;
        Invariant.That(error != IoError.None || _runsFlushed == _runsTaken, "The tail advances only after the home is flushed.");
        error = error == IoError.None && !isRetiring ? await ring.WriteAnchor(end, checksum) : error;
        if (error == IoError.None)
        {
            _reason = State == WriteCacheState.Active ? "" : _reason;
            await Forget(ring, records, end, checksum, isRetiring);
        }
        else if (!_closing && _home.Fault == IoError.None && (ring.FlushFault != IoError.None || !_medium!.HasSource))
        {
            Lose(error, "no copy of it is left");
        }
        else if (!_closing && _home.Fault == IoError.None)
        {
            _failedRounds++;
            _freed.NotifyAll();
            _reason = _unsaid >= 0 ? UnsaidReason() : $"data cannot be taken home: {error}";
            await _lane.Delay(RetryNs);
        }

        _freed.NotifyAll();
        return default;
    }

    /// <summary>The oldest records that bring the use of the ring down to the goal, as far as one round goes.</summary>
    private (int Records, long End, uint Checksum) Choose(CacheRing ring, long goal)
    {
        long most = Math.Min(Math.Min(RoundBlocksMax, Math.Max(1, ring.Length / 8)), ring.Used - goal);
        int count = 0;
        QueuedRecord last = default;
        Queue<QueuedRecord>.Enumerator each = _queue.GetRecords();
        while (each.MoveNext() && (count == 0 || last.End - ring.Tail < most))
        {
            last = each.Current;
            count++;
        }

        return (count, last.End, last.Checksum);
    }

    private void PlanRound(CacheRing ring, int records)
    {
        _plan.Clear();
        Queue<QueuedRecord>.Enumerator record = _queue.GetRecords();
        Queue<QueuedExtent>.Enumerator extent = _queue.GetExtents();
        for (int i = 0; i < records && record.MoveNext(); i++)
        {
            for (int e = 0; e < record.Current.Extents && extent.MoveNext(); e++)
            {
                PlanExtent(ring, extent.Current);
            }
        }

        _plan.Sort(static (a, b) => a.Block != b.Block ? a.Block.CompareTo(b.Block) : a.Place.Position.CompareTo(b.Place.Position));
    }

    private void PlanExtent(CacheRing ring, QueuedExtent queued)
    {
        bool isData = queued.Extent.Kind == CacheExtentKind.Data;
        for (int i = 0; i < queued.Extent.Count; i++)
        {
            CachePlace place = isData ? new CachePlace(queued.Position + i, isZero: false) : new CachePlace(queued.Position, isZero: true);
            CachePlace newest = _index.Find(queued.Extent.Block + i);
            if (newest == place || newest.Position >= ring.Durable)
            {
                _plan.Add(new CachedBlock(queued.Extent.Block + i, place));
            }
        }
    }

    private async LaneTask<IoError> TakeHome(CacheRing ring)
    {
        _runError = IoError.None;
        for (int at = 0; at < _plan.Count && _runError == IoError.None && !_closing;)
        {
            at = LastVersion(at);
            int end = RunEnd(at);
            await Pace((end - at) * BlockSize);
            while (_runsInFlight >= RunsInFlightMax)
            {
                await _runEnded.Wait();
            }

            _runsInFlight++;
            TakeRun(ring, at, end - at).Forget();
            at = end;
        }

        while (_runsInFlight > 0)
        {
            await _runEnded.Wait();
        }

        return _closing ? IoError.Cancelled : _runError;
    }

    /// <summary>Of several versions of a block in one round the last counts.</summary>
    private int LastVersion(int at)
    {
        while (at + 1 < _plan.Count && _plan[at + 1].Block == _plan[at].Block)
        {
            at++;
        }

        return at;
    }

    /// <summary>Where a run that begins here ends: blocks that follow each other, all data or all zeros, each with one version.</summary>
    private int RunEnd(int at)
    {
        int end = at + 1;
        while (end < _plan.Count && end - at < RunBlocksMax && _plan[end].Block == _plan[end - 1].Block + 1
            && _plan[end].Place.IsZero == _plan[at].Place.IsZero && LastVersion(end) == end)
        {
            end++;
        }

        return end;
    }

    private async LaneTask TakeRun(CacheRing ring, int at, int count)
    {
        long offset = _plan[at].Block * BlockSize;
        IoError error = _plan[at].Place.IsZero
            ? NoteHome(await _home.Unmap(offset, (long)count * BlockSize), offset, (long)count * BlockSize) : await TakeData(ring, at, count, offset);
        Counters.DestagedBytes += error == IoError.None ? count * BlockSize : 0;
        _runError = _runError == IoError.None ? error : _runError;
        _runsInFlight--;
        _runsTaken++;
        _runEnded.NotifyAll();
    }

    private async LaneTask<IoError> TakeData(CacheRing ring, int at, int count, long offset)
    {
        IoBuffer data = _lane.Buffers.Rent(count * BlockSize);
        Fan reads = Fan.Rent();
        for (int i = 0; i < count;)
        {
            int length = 1;
            while (i + length < count && _plan[at + i + length].Place.Position == _plan[at + i].Place.Position + length)
            {
                length++;
            }

            reads.Add(ring.Read(_plan[at + i].Place.Position, data.Slice(i * BlockSize, length * BlockSize), Counters));
            i += length;
        }

        IoError error = await reads.Wait();
        error = error == IoError.None
            ? NoteHome(await _home.Write(offset, data, WriteFlags.None), offset, data.Length) : await TakeSingly(ring, at, data, offset);
        _lane.Buffers.Return(data);
        return error;
    }

    /// <summary>Waits until bytes may go home at the rate that is set.</summary>
    private async LaneTask<Nothing> Pace(int bytes)
    {
        long rate = Settings.BytesPerSecond;
        if (rate <= 0)
        {
            _paceNs = 0;
            return default;
        }

        long now = _lane.NowNs;
        _paceNs = Math.Max(_paceNs, now);
        while (_paceNs > now && !_closing && _waiting == 0 && !_isDraining && State == WriteCacheState.Active)
        {
            await _lane.Delay(Math.Min(_paceNs - now, IdlePollNs));
            now = _lane.NowNs;
        }

        _paceNs += (long)(bytes * 1e9 / rate);
        return default;
    }

    private async LaneTask<Nothing> Forget(CacheRing ring, int records, long end, uint checksum, bool isGivenUp)
    {
        for (int i = 0; i < records; i++)
        {
            QueuedRecord record = _queue.TakeRecord();
            for (int e = 0; e < record.Extents; e++)
            {
                ForgetExtent(_queue.TakeExtent());
            }
        }

        await DrainReaders();
        Counters.Evictions++;
        Counters.EvictedBytes += (end - ring.Tail) * BlockSize;
        ring.Free(end, checksum, isGivenUp);
        return default;
    }

    private void ForgetExtent(QueuedExtent queued)
    {
        bool isData = queued.Extent.Kind == CacheExtentKind.Data;
        for (int i = 0; i < queued.Extent.Count; i++)
        {
            long block = queued.Extent.Block + i;
            CachePlace place = isData ? new CachePlace(queued.Position + i, isZero: false) : new CachePlace(queued.Position, isZero: true);
            if (_index.Find(block) == place)
            {
                _index.Remove(block);
                int row = RowOf(block * BlockSize);
                HoldRow(row, -1);
                if (_heldBlocks[row] == 0 && place.IsZero)
                {
                    _home.UnitReleased(row);
                }
            }
        }
    }
}
