using TierSpaces.Engine.Journals;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>
/// The ring of an integrity log over slabs of the pool: per copy a list of slabs that follow each other, each copy on a disk of
/// its own. A copy that misses a write or a flush is out for good: its disk leaves the view before the journal goes on.
/// </summary>
internal sealed class LogMedium(
    SpaceMembers members, IReadOnlyList<IReadOnlyList<SlabPlace>> copies, int slabSize, int blocks, Func<int, IoError, bool, LaneTask<bool>> putOut)
    : IJournalMedium
{
    private readonly bool[] _dropped = new bool[copies.Count];

    public int Copies => copies.Count;

    public int Blocks => blocks;

    /// <summary>Bytes written, for the counters.</summary>
    internal long BytesWritten { get; private set; }

    public async LaneTask<IoError> Read(int copy, long offset, IoBuffer target)
    {
        for (int at = 0; at < target.Length;)
        {
            (SlabPlace place, int within) = Locate(copy, offset + at);
            int length = Math.Min(target.Length - at, slabSize - within);
            IoError error = _dropped[copy] ? IoError.DeviceGone : await members.Read(place.Disk, place.DataOffset + within, target.Slice(at, length));
            if (error != IoError.None)
            {
                return error;
            }

            at += length;
        }

        return IoError.None;
    }

    public async LaneTask<IoError> Write(long offset, IoBuffer source)
    {
        LaneTask<IoError> write0 = WriteCopy(0, offset, source);
        LaneTask<IoError> write1 = copies.Count > 1 ? WriteCopy(1, offset, source) : LaneTask.FromResult(IoError.DeviceGone);
        LaneTask<IoError> write2 = copies.Count > 2 ? WriteCopy(2, offset, source) : LaneTask.FromResult(IoError.DeviceGone);
        IoError error0 = await write0;
        IoError error1 = await write1;
        IoError error2 = await write2;
        return await Settle(0, error0) | await Settle(1, error1) | await Settle(2, error2) ? IoError.None : error0;
    }

    public async LaneTask<IoError> Flush()
    {
        bool any = false;
        for (int copy = 0; copy < copies.Count; copy++)
        {
            any |= await Settle(copy, await FlushCopy(copy));
        }

        return any ? IoError.None : IoError.Io;
    }

    /// <summary>Whether a live copy stands on another disk.</summary>
    internal bool SurvivesWithout(int disk)
    {
        for (int copy = 0; copy < copies.Count; copy++)
        {
            if (IsLive(copy) && copies[copy][0].Disk != disk)
            {
                return true;
            }
        }

        return false;
    }

    private bool IsLive(int copy)
    {
        _dropped[copy] |= !members.IsLive(copies[copy][0].Disk);
        return !_dropped[copy];
    }

    private async LaneTask<IoError> WriteCopy(int copy, long offset, IoBuffer source)
    {
        for (int at = 0; at < source.Length;)
        {
            (SlabPlace place, int within) = Locate(copy, offset + at);
            int length = Math.Min(source.Length - at, slabSize - within);
            IoError error = IsLive(copy) ? await members.Write(place.Disk, place.DataOffset + within, source.Slice(at, length)) : IoError.DeviceGone;
            if (error != IoError.None)
            {
                return error;
            }

            at += length;
            BytesWritten += length;
        }

        return IoError.None;
    }

    private async LaneTask<IoError> FlushCopy(int copy) =>
        !IsLive(copy) ? IoError.DeviceGone : await members.FlushDisk(copies[copy][0].Disk) ? IoError.None : IoError.Io;

    /// <summary>Whether the copy goes on; one that failed leaves, if another is left.</summary>
    private async LaneTask<bool> Settle(int copy, IoError error)
    {
        if (copy >= copies.Count || !IsLive(copy))
        {
            return false;
        }

        if (error == IoError.None)
        {
            return true;
        }

        int disk = copies[copy][0].Disk;
        await putOut(disk, error, SurvivesWithout(disk));
        _dropped[copy] = true;
        return false;
    }

    private (SlabPlace Place, int Within) Locate(int copy, long offset) =>
        (copies[copy][(int)(offset / slabSize)], (int)(offset % slabSize));
}
