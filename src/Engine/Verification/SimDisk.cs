using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Verification;

/// <summary>
/// A simulated disk: requests complete after a seeded time in any order; a write reaches the volatile cache when it
/// completes, a flush hardens what had completed when it was submitted. Faults are switched on per disk.
/// <para>
/// Handles on other simulated lanes (<see cref="Share"/>) forward to the disk: medium, faults, writes in flight and what flushes harden are the disk's. A
/// handle has the lane on which its requests take their time, and its own count of them. All lanes of a disk run on one thread.
/// </para>
/// </summary>
public sealed class SimDisk : IDisk
{
    /// <summary>Byte that what was unmapped reads as.</summary>
    public const byte Unmapped = 0xDB;

    private const int PageBytes = 4096;

    private readonly SimPort _own;
    private readonly List<SimPort> _ports = [];   // the disk's own, and one per open handle
    private readonly List<(SimLane Lane, long Offset, byte[][] Sectors)> _writesInFlight = [];
    private long _requests;

    /// <summary>Attaches a medium to a lane.</summary>
    public SimDisk(SimLane lane, SimMedia media, MediaType mediaType = MediaType.SSD, string? name = null)
    {
        _own = new SimPort(lane);
        _ports.Add(_own);
        Media = media;
        Identity = new DiskIdentity(
            "sim:" + (name ?? media.Key), media.Key, media.Length, Math.Min(media.SectorSize, 4096), media.SectorSize, mediaType,
            BusType.FileBackedVirtual, 0, true, "", "SimDisk", "TierSpaces", "1", "") { Incarnation = media.PowerLosses + 1 };
    }

    /// <summary>The medium.</summary>
    public SimMedia Media { get; }

    /// <inheritdoc/>
    public DiskIdentity Identity { get; private init; }

    /// <summary>Reason for which the system excludes the disk from pools; empty for none.</summary>
    public string CannotPoolReason
    {
        get => Identity.CannotPoolReason;
        init => Identity = Identity with { CannotPoolReason = value };
    }

    /// <summary>Names of the device and its hardware, as the system gives them.</summary>
    public DeviceNames Names
    {
        get => new(Identity.DeviceKey, Identity.Hardware);
        init => Identity = Identity with { DeviceKey = value.DeviceKey, Hardware = value.Hardware };
    }

    /// <summary>Requests so far.</summary>
    public long Requests => _requests;

    /// <summary>Unmaps so far, through any handle.</summary>
    public long UnmapOperations { get; private set; }

    /// <summary>Fault: the disk is gone.</summary>
    public bool Pulled { get; set; }

    /// <summary>Fault: reads of a disk that is gone give EIO, as those of a bad sector do.</summary>
    public bool IsGoneAsBad { get; set; }

    /// <summary>Fault: flushes succeed and do nothing.</summary>
    public bool FlushLies { get; set; }

    /// <summary>Fault: the next flushes fail.</summary>
    public int FailFlushes { get; set; }

    /// <summary>Fault: reads that touch this range fail with EIO.</summary>
    public Func<long, int, bool>? ReadFails { get; set; }

    /// <summary>Fault: reads that touch this range take so many nanoseconds more.</summary>
    public Func<long, int, long>? ReadTakesLonger { get; set; }

    /// <summary>Fault: this write (offset, length) takes so many nanoseconds more.</summary>
    public Func<long, int, long>? WriteTakesLonger { get; set; }

    /// <summary>Fault: this write (offset, length) is acknowledged and lost.</summary>
    public Func<long, int, bool>? WriteLost { get; set; }

    /// <summary>Fault: this write (offset, length) fails with EIO and is not carried out.</summary>
    public Func<long, int, bool>? WriteFails { get; set; }

    /// <summary>Fault: writes answer ENOSPC.</summary>
    public bool Full { get; set; }

    /// <summary>Fault: flushes answer ENOSPC, as of a file whose blocks are found when it is written back.</summary>
    public bool FullAtFlush { get; set; }

    /// <summary>Writes that found other bytes in their memory when the disk came to them: memory in flight was used again.</summary>
    public int ReusedBuffers { get; private set; }

    /// <summary>Fault: no further handle of the disk can be made.</summary>
    public bool CannotShare { get; set; }

    /// <summary>Called before each request takes effect: (kind, offset, length).</summary>
    public Action<SimOperation, long, int>? OnRequest { get; set; }

    /// <summary>After <see cref="Wake"/> a request that hung takes up to so many nanoseconds more; 0: none.</summary>
    internal int WakeTakesNs { get; set; }

    /// <summary>Handles of other lanes that are open.</summary>
    internal int Handles => _ports.Count - 1;

    /// <summary>Fault: requests are taken and not answered, those in flight too, until <see cref="Wake"/>. Then they take effect, late.</summary>
    public bool Hung { get; private set; }

    /// <summary>The disk is gone from now on.</summary>
    internal void Pull() => Pulled = true;

    /// <summary>The disk is there again.</summary>
    internal void PutBack() => Pulled = false;

    /// <summary>Returns a disk that has the faults of this one but is there: the same one after a loss of power.</summary>
    /// <param name="lane">Its lane.</param>
    /// <param name="media">Its content.</param>
    internal SimDisk Replace(SimLane lane, SimMedia media) => new(lane, media)
    {
        OnRequest = OnRequest,
        ReadTakesLonger = ReadTakesLonger,
        WriteTakesLonger = WriteTakesLonger,
        ReadFails = ReadFails,
        WriteFails = WriteFails,
        WakeTakesNs = WakeTakesNs,
    };

    /// <inheritdoc/>
    public bool IsPresent => !Pulled;

    /// <inheritdoc/>
    public LaneTask<IoError> CheckPresence() => CheckPresence(_own);

    internal async LaneTask<IoError> CheckPresence(SimPort port)
    {
        port.Begin();
        await port.Lane.Delay(1000 + port.Lane.Next(200_000));
        while (Hung)
        {
            await port.Woken.Wait();
        }

        port.End();
        return Pulled ? IoError.DeviceGone : IoError.None;
    }

    /// <inheritdoc/>
    public int InFlight => _own.InFlight;

    /// <summary>Requests of the disk and of all its handles that are submitted and not completed.</summary>
    public int TotalInFlight => _ports.Sum(static port => port.InFlight);

    /// <inheritdoc/>
    public StoreGeometry Geometry => new(Media.Length, Identity.LogicalSectorSize, Media.SectorSize, BufferPool.LargestBuffer);

    /// <summary>Writes of a lane that are submitted and not completed.</summary>
    public int WritesInFlight(SimLane lane) => _writesInFlight.Count(write => write.Lane == lane);

    /// <summary>Stops answering.</summary>
    public void Hang() => Hung = true;

    /// <summary>Answers again, what was asked meanwhile included.</summary>
    public void Wake()
    {
        Hung = false;
        foreach (SimPort port in _ports.ToArray())
        {
            if (port.Lane.IsCurrent)
            {
                port.Woken.NotifyAll();
            }
            else
            {
                port.Lane.Post(port.Woken.NotifyAll);
            }
        }
    }

    /// <inheritdoc/>
    /// <remarks>The other lane is a <see cref="SimLane"/> that runs on the same thread.</remarks>
    public DiskShare Share() => CannotShare ? throw new DiskOpenException(DiskOpenFailure.Failed, "No descriptor is left.") : new(
        lane =>
        {
            SimPort port = new((SimLane)lane);
            _ports.Add(port);
            return new SimDiskHandle(this, port);
        },
        static () => { });

    /// <summary>A handle has been closed.</summary>
    internal void Remove(SimPort port) => _ports.Remove(port);

    /// <summary>The medium as it would be if the process died now: writes in flight are pending too.</summary>
    public SimMedia SnapshotWithInFlight()
    {
        SimMedia copy = Media.Snapshot();
        foreach ((SimLane _, long offset, byte[][] sectors) in _writesInFlight)
        {
            copy.Write(offset, sectors);
        }

        return copy;
    }

    /// <summary>
    /// Applies parts of the writes in flight, as a dying process may leave them: by pages of 4 KiB, which a kernel takes or drops as a whole. Less than that
    /// only a disk tears, when it loses its power.
    /// </summary>
    public void ApplyInFlight(SimMedia target, Func<bool> arrived)
    {
        int perPage = PageBytes / Media.SectorSize;
        foreach ((SimLane _, long offset, byte[][] sectors) in _writesInFlight)
        {
            for (int i = 0, count; i < sectors.Length; i += count)
            {
                count = Math.Min(sectors.Length - i, perPage - (int)((offset / Media.SectorSize) + i) % perPage);
                if (arrived())
                {
                    target.Write(offset + (i * Media.SectorSize), sectors[i..(i + count)]);
                }
            }
        }
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Read(long offset, IoBuffer target) => Read(_own, offset, target);

    internal async LaneTask<IoError> Read(SimPort port, long offset, IoBuffer target)
    {
        if (!Valid(offset, target.Length))
        {
            return IoError.InvalidArgument;
        }

        await Latency(port, SimOperation.Read, offset, target.Length);
        if (Pulled)
        {
            return IsGoneAsBad ? IoError.Io : IoError.DeviceGone;
        }

        if (ReadFails?.Invoke(offset, target.Length) == true)
        {
            return IoError.Io;
        }

        for (int i = 0, done = 0; i < target.Strips; done += target.Strip(i).Length, i++)
        {
            Media.Read(offset + done, target.Strip(i).Span);
        }

        return IoError.None;
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags) => Write(_own, offset, source, flags);

    internal async LaneTask<IoError> Write(SimPort port, long offset, IoBuffer source, WriteFlags flags)
    {
        if (!Valid(offset, source.Length))
        {
            return IoError.InvalidArgument;
        }

        (SimLane Lane, long Offset, byte[][] Sectors) pending = (port.Lane, offset, SectorsOf(source));
        _writesInFlight.Add(pending);
        bool wasHung = await Latency(port, SimOperation.Write, offset, source.Length);
        _writesInFlight.Remove(pending);
        if (wasHung && !Holds(source, pending.Sectors))
        {
            ReusedBuffers++;   // a device reads the memory when it comes to it
        }

        if (Pulled)
        {
            return IoError.DeviceGone;
        }

        if (Full)
        {
            return IoError.NoSpace;
        }

        if (WriteFails?.Invoke(offset, source.Length) == true)
        {
            return IoError.Io;
        }

        if (WriteLost?.Invoke(offset, source.Length) != true)
        {
            Media.Write(offset, pending.Sectors);
            _hardened += Media.WriteBack();
        }

        return (flags & WriteFlags.ForceUnitAccess) != 0 ? await Flush(port) : IoError.None;
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Flush() => Flush(_own);

    internal async LaneTask<IoError> Flush(SimPort port)
    {
        int covered = Media.CachedWrites;
        long requestsBefore = _hardened;
        await Latency(port, SimOperation.Flush, 0, 0);
        if (Pulled)
        {
            return IoError.DeviceGone;
        }

        if (FailFlushes > 0)
        {
            FailFlushes--;
            return IoError.Io;
        }

        if (FullAtFlush)
        {
            return IoError.NoSpace;
        }

        if (!FlushLies)
        {
            int left = covered - (int)(_hardened - requestsBefore);
            if (left > 0)
            {
                Media.Harden(left);
                _hardened += left;
            }
        }

        return IoError.None;
    }

    /// <summary>Whether the device zeroes a range by writing it: it refuses <see cref="WriteFlags.Fast"/>.</summary>
    public bool ZeroesSlowly { get; set; }

    /// <inheritdoc/>
    /// <remarks>Unmapped sectors read as garbage.</remarks>
    public LaneTask<IoError> Unmap(long offset, long length) => Unmap(_own, offset, length);

    internal LaneTask<IoError> Unmap(SimPort port, long offset, long length)
    {
        UnmapOperations++;
        return Fill(port, offset, length, Unmapped);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) => WriteZeroes(_own, offset, length, flags);

    internal async LaneTask<IoError> WriteZeroes(SimPort port, long offset, long length, WriteFlags flags)
    {
        if (!Valid(offset, length))
        {
            return IoError.InvalidArgument;
        }

        if (ZeroesSlowly && (flags & WriteFlags.Fast) != 0)
        {
            return IoError.NotSupported;
        }

        IoError error = await Fill(port, offset, length, 0);
        return error == IoError.None && (flags & WriteFlags.ForceUnitAccess) != 0 ? await Flush(port) : error;
    }

    private async LaneTask<IoError> Fill(SimPort port, long offset, long length, byte value)
    {
        if (!Valid(offset, length))
        {
            return IoError.InvalidArgument;
        }

        for (long at = 0; at < length; at += 1 << 20)
        {
            IoBuffer data = port.Lane.Buffers.Rent((int)Math.Min(1 << 20, length - at));
            data.Span.Fill(value);
            IoError error = await Write(port, offset + at, data, WriteFlags.None);
            port.Lane.Buffers.Return(data);
            if (error != IoError.None)
            {
                return error;
            }
        }

        return IoError.None;
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        if (!Valid(offset, length))
        {
            return LaneTask.FromResult(IoError.InvalidArgument);
        }

        if (length > 0)
        {
            extents.Add(new StoreExtent(length, ExtentState.Data));
        }

        return LaneTask.FromResult(IoError.None);
    }

    /// <summary>Whether it was closed.</summary>
    public bool IsClosed { get; private set; }

    /// <inheritdoc/>
    public async LaneTask Close()
    {
        IsClosed = true;
        while (InFlight > 0)
        {
            await _own.Lane.Delay(1000);
        }
    }

    private long _hardened;   // cached writes hardened so far: tells a flush what an overlapping one already did

    private bool Valid(long offset, long length) =>
        offset >= 0 && length >= 0 && offset <= Media.Length - length && (offset | length) % Media.SectorSize == 0;

    private byte[][] SectorsOf(IoBuffer source)
    {
        byte[][] sectors = new byte[source.Length / Media.SectorSize][];
        for (int i = 0, done = 0; i < source.Strips; i++)
        {
            byte[][] ofStrip = SimMedia.SectorsOf(source.Strip(i).Span, Media.SectorSize);
            ofStrip.CopyTo(sectors, done);
            done += ofStrip.Length;
        }

        return sectors;
    }

    private bool Holds(IoBuffer data, byte[][] sectors)
    {
        for (int i = 0; i < sectors.Length; i++)
        {
            if (!data.Slice(i * Media.SectorSize, Media.SectorSize).Span.SequenceEqual(sectors[i]))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Takes the time of a request; whether the disk hung meanwhile.</summary>
    private async LaneTask<bool> Latency(SimPort port, SimOperation operation, long offset, int length)
    {
        port.Begin();
        OnRequest?.Invoke(operation, offset, length);
        port.Lane.Trace(((ulong)offset << 3) ^ (ulong)length ^ ((ulong)operation << 60) ^ (ulong)_requests++);
        Func<long, int, long>? longer = operation switch { SimOperation.Read => ReadTakesLonger, SimOperation.Write => WriteTakesLonger, _ => null };
        await port.Lane.Delay(1000 + port.Lane.Next(200_000) + (longer?.Invoke(offset, length) ?? 0));
        bool wasHung = Hung;
        while (Hung)
        {
            await port.Woken.Wait();
        }

        if (wasHung && WakeTakesNs > 0)
        {
            await port.Lane.Delay(port.Lane.Next(WakeTakesNs));
        }

        port.End();
        return wasHung;
    }
}

/// <summary>A way to a simulated disk: the lane on which its requests take their time, and their number.</summary>
internal sealed class SimPort(SimLane lane)
{
    internal SimLane Lane => lane;

    internal int InFlight { get; private set; }

    internal void Begin() => InFlight++;

    internal void End() => InFlight--;

    /// <summary>The disk answers again, see <see cref="SimDisk.Wake"/>.</summary>
    internal LaneSignal Woken { get; } = new();
}

/// <summary>Kinds of request a simulated disk sees.</summary>
public enum SimOperation
{
    /// <summary>Read.</summary>
    Read,

    /// <summary>Write.</summary>
    Write,

    /// <summary>Flush.</summary>
    Flush,
}
