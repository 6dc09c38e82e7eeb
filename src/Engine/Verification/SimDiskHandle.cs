using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Verification;

/// <summary>A handle of a simulated disk on another lane: it forwards to the disk, where medium and faults are.</summary>
internal sealed class SimDiskHandle(SimDisk disk, SimPort port) : IDisk
{
    private bool _isClosing;

    public DiskIdentity Identity => disk.Identity;

    public bool IsPresent => disk.IsPresent;

    public int InFlight => port.InFlight;

    public StoreGeometry Geometry => disk.Geometry;

    public LaneTask<IoError> CheckPresence() => disk.CheckPresence(port);

    public LaneTask<IoError> Read(long offset, IoBuffer target) => disk.Read(port, offset, target);

    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags) => disk.Write(port, offset, source, flags);

    public LaneTask<IoError> Flush() => disk.Flush(port);

    public LaneTask<IoError> Unmap(long offset, long length) => disk.Unmap(port, offset, length);

    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) => disk.WriteZeroes(port, offset, length, flags);

    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) => disk.Status(offset, length, extents);

    public DiskShare Share() => disk.Share();

    public async LaneTask Close()
    {
        if (_isClosing)
        {
            return;
        }

        _isClosing = true;
        while (port.InFlight > 0)
        {
            await port.Lane.Delay(1000);
        }

        disk.Remove(port);
    }
}
