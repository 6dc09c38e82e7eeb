using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Opening a device may hang in the kernel for as long as its file system does. The caller goes on after PatienceNs: the disk counts as not there.
//
// Invariants
//  1. At most one call that opens a path is under way. Until it has returned, and what it opened too late is closed again, further ones fail at once.

/// <summary>Opens devices, each within a deadline.</summary>
internal sealed class DeviceOpenings(SubsystemCore core)
{
    /// <summary>Time after which a device that is being opened counts as not there, in nanoseconds.</summary>
    internal const long PatienceNs = 5_000_000_000;

    private readonly Dictionary<string, TimedCall<IDisk>> _underWay = [];   // by path

    /// <summary>Opens a device.</summary>
    /// <exception cref="DiskOpenException">It could not be opened, or not in time (<see cref="DiskOpenFailure.NoAnswer"/>).</exception>
    internal async LaneTask<IDisk> Open(string uri, DiskOverrides overrides)
    {
        string path = DiskUri.Parse(uri).Path;
        if (_underWay.TryGetValue(path, out TimedCall<IDisk>? other))
        {
            throw other.IsGivenUp ? NoAnswer(uri) : new DiskOpenException(DiskOpenFailure.InUse, $"'{uri}' is in use: the host is opening it already.");
        }

        TimedCall<IDisk> opening = new(core.Lane, static late => late.Close(), wasLate => End(path, uri, wasLate));
        _underWay.Add(path, opening);
        if (!await opening.EndsWithin(PatienceNs, core.Options.Factory.Open(core.Lane, uri, overrides)))
        {
            core.Notice($"{uri} does not answer: opening it has not ended within {PatienceNs / 1_000_000_000} s. It counts as not there until it answers.");
            throw NoAnswer(uri);
        }

        return opening.Result;
    }

    /// <summary>Names the device behind a URI and its hardware; nothing where nothing is known, or not in time.</summary>
    internal async LaneTask<DeviceNames> NameDevice(string uri)
    {
        TimedCall<DeviceNames> naming = new(core.Lane, static _ => LaneTask.Completed, static _ => { });
        return await naming.EndsWithin(PatienceNs, core.Options.Factory.NameDevice(core.Lane, uri)) ? naming.Result : DeviceNames.None;
    }

    private static DiskOpenException NoAnswer(string uri) => new(
        DiskOpenFailure.NoAnswer, $"'{uri}' does not answer: opening it has not ended within {PatienceNs / 1_000_000_000} s. Its file system or device hangs.");

    private void End(string path, string uri, bool wasLate)
    {
        _underWay.Remove(path);
        if (wasLate)
        {
            core.Notice($"{uri} answers again.");
        }
    }
}
