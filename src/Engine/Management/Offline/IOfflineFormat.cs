using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>
/// Reads pools of one format from closed disks. The disks keep what is written to them in memory, so a reader may recover as its host would; nothing reaches
/// the media.
/// </summary>
public interface IOfflineFormat
{
    /// <summary>Describes what is on the disks. A disk of another format is no member; a pool that cannot be opened has a reason.</summary>
    /// <param name="lane">Lane of the disks.</param>
    /// <param name="disks">The disks.</param>
    /// <param name="withOlder">Whether copies are read that may be out of date, where no others are there.</param>
    LaneTask<OfflinePool> Describe(ILane lane, IReadOnlyList<IDisk> disks, bool withOlder);
}
