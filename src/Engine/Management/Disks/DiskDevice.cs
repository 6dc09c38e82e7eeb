using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// The device of a registered disk, from one opening to the next:
//
//   PathsOpened   its paths are open, with a metered device over them, which the caller uses or closes
//   Opened        the host has that device open
//   GivenToPool   a pool owns it, and closes it
//   Close         the host closes it
//
// Invariants
//  1. The host closes the device exactly while Open is not null.
//  2. LastOpened, Paths and Emulated are of one opening. They stay known when the device is closed or owned by a pool.
//  3. An emulated disk shows the fault that was ordered last, also after it is reopened.

/// <summary>The device that the paths of a registered disk lead to: open or not, with what is known of it and of its paths.</summary>
internal sealed class DiskDevice
{
    private readonly HashSet<string> _aliases = [];      // paths that are further names of a device which is open by another path
    private readonly HashSet<string> _failedUris = [];   // paths that are reported as failed
    private EmulatedFault _fault = EmulatedFault.None;   // while this host runs

    /// <summary>The device, while it is open and no pool owns it.</summary>
    internal IDisk? Open { get; private set; }

    /// <summary>Identity that the system reported when the device was last opened.</summary>
    internal DiskIdentity? Identity { get; private set; }

    /// <summary>The device as it was last opened, whether or not a pool owns it now.</summary>
    internal MeteredDisk? LastOpened { get; private set; }

    /// <summary>The paths of the device as it was last opened.</summary>
    internal MultipathDisk? Paths { get; private set; }

    /// <summary>The emulated disk as it was last opened, whether or not a pool owns it now; null for others.</summary>
    internal EmulatedDisk? Emulated { get; private set; }

    /// <summary>The search for paths of the open device.</summary>
    internal DiskSearch PathSearch { get; } = new();

    /// <summary>Paths that are further names of a device which is open by another path.</summary>
    internal IReadOnlyCollection<string> Aliases => _aliases;

    /// <summary>Its paths were opened. Returns a device over them, which goes on counting where the one before it stopped.</summary>
    internal MeteredDisk PathsOpened(ILane lane, MultipathDisk paths, DiskWatch watch)
    {
        IoCounters? before = LastOpened?.LifetimeCounters();
        before?.EndAll();
        (Paths, Emulated, LastOpened) = (paths, paths.Paths[0].Disk as EmulatedDisk, new MeteredDisk(lane, paths, watch) { Before = before });
        PathSearch.Renew();
        Show(_fault);
        return LastOpened;
    }

    /// <summary>The host has the device open, for itself or for a pool that it will be given to.</summary>
    internal void Opened(IDisk device) => (Open, Identity) = (device, device.Identity);

    /// <summary>A pool owns the open device from here on.</summary>
    internal void GivenToPool() => Open = null;

    /// <summary>Closes the device, and with it its lock and descriptor, unless a pool owns it.</summary>
    internal async LaneTask<Nothing> Close()
    {
        if (Open is { } open)
        {
            Open = null;
            await open.Close();
        }

        return default;
    }

    /// <summary>Makes an emulated disk show a fault from now on, in place of the one before.</summary>
    internal void Show(EmulatedFault fault)
    {
        _fault = fault;
        Emulated?.Show(fault);
    }

    /// <summary>A path was looked at before it is opened: notes whether it is a further name of an open device.</summary>
    internal void PathNamed(string uri, bool isAlias) => _ = isAlias ? _aliases.Add(uri) : _aliases.Remove(uri);

    /// <summary>Closes a path that is no path of the disk any more.</summary>
    internal void RemovePath(string uri)
    {
        _aliases.Remove(uri);
        if (FindPath(uri) is { } open)
        {
            Paths!.Remove(open);
        }
    }

    /// <summary>Looks at a path of the open device. Returns whether the path works if that has changed, and null otherwise.</summary>
    internal bool? WatchPath(string uri)
    {
        bool works = Works(uri);
        return (works ? _failedUris.Remove(uri) : _failedUris.Add(uri)) ? works : null;
    }

    /// <summary>Returns an open path; null while it is not open.</summary>
    internal DiskPath? FindPath(string uri) => Paths?.Paths.FirstOrDefault(path => path.Uri == uri);

    /// <summary>Returns those of the paths of the disk that work; none while the device is not there.</summary>
    internal IReadOnlyList<string> Working(IEnumerable<string> uris) => Paths is not { IsPresent: true } ? [] : [.. uris.Where(Works)];

    private bool Works(string uri) => _aliases.Contains(uri) || Paths!.Paths.Any(path => path.Uri == uri && path.IsUsable);
}
