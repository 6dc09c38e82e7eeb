using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>A disk that takes no time and keeps nothing; it can be told to fail.</summary>
public sealed class NullDisk(long length) : IDisk
{
    public IoError Answer { get; set; }

    /// <summary>Whether zeroing writes the range: the fast way is refused.</summary>
    public bool ZeroesSlowly { get; init; }

    /// <summary>Called within every write: what the disk does at once.</summary>
    public Action Worked { get; init; } = () => { };

    public bool IsClosed { get; private set; }

    public DiskIdentity Identity { get; } = new("null:", "null", length, 512, 4096, MediaType.Unspecified, BusType.Unknown, 0, true, "", "", "", "", "");

    public StoreGeometry Geometry { get; } = new(length, 512, 512, 32 << 20);

    public bool IsPresent => true;

    public int InFlight => 0;

    public LaneTask<IoError> Read(long offset, IoBuffer target) => new(Answer);

    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        Worked();
        return new(Answer);
    }

    public LaneTask<IoError> Flush() => new(Answer);

    public LaneTask<IoError> Unmap(long offset, long length) => new(Answer);

    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) =>
        ZeroesSlowly && (flags & WriteFlags.Fast) != 0 ? new(IoError.NotSupported) : new(Answer);

    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) => new(Answer);

    public DiskShare Share() => new(_ => new NullDisk(length) { Answer = Answer, Worked = Worked }, static () => { });

    public LaneTask Close()
    {
        IsClosed = true;
        return LaneTask.Completed;
    }
}
