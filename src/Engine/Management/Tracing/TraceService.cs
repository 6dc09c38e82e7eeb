using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Traces of the requests of virtual disks.</summary>
public sealed class TraceService
{
    /// <summary>Longest trace.</summary>
    public static readonly TimeSpan LongestTime = TimeSpan.FromMinutes(1);

    private readonly SubsystemCore _core;

    internal TraceService(SubsystemCore core) => _core = core;

    /// <summary>Traces a virtual disk for a time and reports the slowest requests that ended in it.</summary>
    /// <param name="id">The virtual disk.</param>
    /// <param name="time">The time, more than zero and at most <see cref="LongestTime"/>.</param>
    /// <param name="slowest">Most requests to show, 1 to 1,000.</param>
    /// <param name="cancellation">Ends it early, without a report.</param>
    /// <exception cref="ManagementException">There is no such virtual disk, it is not connected, or a number is out of range.</exception>
    public async Task<TraceReport> TraceAsync(Guid id, TimeSpan time, int slowest, CancellationToken cancellation)
    {
        Require(time > TimeSpan.Zero && time <= LongestTime, $"--seconds {time.TotalSeconds}", $"more than 0, at most {LongestTime.TotalSeconds}");
        Require(slowest is >= 1 and <= 1000, $"--count {slowest}", "1 to 1000");
        DiskTrace trace = await _core.Verbs.Look(() => Begin(id)).ConfigureAwait(false);
        try
        {
            await Task.Delay(time, cancellation).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            await _core.Verbs.Look(() => End(trace)).ConfigureAwait(false);
            throw;
        }

        (TraceSpan[] spans, Dictionary<MeteredDisk, string> names, long endNs) = await _core.Verbs.Look(() => End(trace)).ConfigureAwait(false);
        return TraceReport.Of(trace.Name, endNs - trace.StartNs, spans, trace.Export, slowest, disk => names.GetValueOrDefault(disk, disk.Identity.Uri));
    }

    private async LaneTask<DiskTrace> Begin(Guid id)
    {
        ManagedVirtualDisk disk = _core.Pools.TakeDisk(id).Disk;
        string name = disk.Description.FriendlyName;
        NbdExport export = disk.Export?.Export ?? throw new ManagementException(
            ManagementError.VirtualDiskStateForbids, $"Virtual disk '{name}' is not connected: no client sends it requests.", "Connect it first.");
        ILane lane = disk.Lane;
        (TraceRing ring, long startNs) = await disk.Ask(_ =>
        {
            export.BeginTrace();
            return (RequestTrace.Begin(), lane.NowNs);
        });
        return new DiskTrace(disk, export, ring, name, startNs);
    }

    private async LaneTask<(TraceSpan[] Spans, Dictionary<MeteredDisk, string> Names, long EndNs)> End(DiskTrace trace)
    {
        ILane lane = trace.Disk.Lane;
        (TraceSpan[] spans, long endNs) = await trace.Disk.Ask(_ =>
        {
            trace.Export.EndTrace();
            TraceSpan[] copy = trace.Ring.Copy();
            RequestTrace.End();
            return (copy, lane.NowNs);
        });
        Dictionary<MeteredDisk, string> names = [];
        foreach (RegisteredDisk disk in _core.Disks.All)
        {
            if (disk.Device.LastOpened is { } opened)
            {
                names[opened] = _core.Disks.NameOf(disk);
            }
        }

        return (spans, names, endNs);
    }

    private static void Require(bool isValid, string given, string valid)
    {
        if (!isValid)
        {
            throw new ManagementException(ManagementError.InvalidParameter, $"{given}: out of range. Valid: {valid}.");
        }
    }

    /// <summary>A trace that is under way. Its export and its ring belong to the lane of the virtual disk, which may be closed by its end.</summary>
    private sealed record DiskTrace(ManagedVirtualDisk Disk, NbdExport Export, TraceRing Ring, string Name, long StartNs);
}
