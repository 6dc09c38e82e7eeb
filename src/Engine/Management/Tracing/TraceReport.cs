using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Time that a request spent in each layer, in nanoseconds; together they are its whole time.</summary>
/// <param name="QueueNs">Received, and waiting for memory, for its payload or for its turn.</param>
/// <param name="EngineNs">In the engine, waiting for nothing below.</param>
/// <param name="RegionNs">Waiting for the durable mark of a dirty region.</param>
/// <param name="ChecksumPageNs">Waiting for a page of checksums.</param>
/// <param name="MemberDiskNs">Waiting for member disks.</param>
/// <param name="FlushNs">Waiting for writes to be made durable.</param>
public sealed record TraceTimes(long QueueNs, long EngineNs, long RegionNs, long ChecksumPageNs, long MemberDiskNs, long FlushNs)
{
    /// <summary>Their sum.</summary>
    public long TotalNs => QueueNs + EngineNs + RegionNs + ChecksumPageNs + MemberDiskNs + FlushNs;
}

/// <summary>A request to a member disk that a client's request made.</summary>
/// <param name="Disk">Name of the physical disk.</param>
/// <param name="Operation">Read, Write, Flush, Unmap or Zero.</param>
/// <param name="Offset">First byte on the disk; −1: none.</param>
/// <param name="Length">Bytes.</param>
/// <param name="BeginNs">Begin after the receipt of the client's request, in nanoseconds.</param>
/// <param name="DurationNs">Time until the disk answered or was given up, in nanoseconds.</param>
public sealed record TracedMember(string Disk, string Operation, long Offset, long Length, long BeginNs, long DurationNs);

/// <summary>A request of a client.</summary>
/// <param name="Command">Read, Write, Flush, Trim, WriteZeroes or BlockStatus.</param>
/// <param name="Offset">First byte in the virtual disk.</param>
/// <param name="Length">Bytes.</param>
/// <param name="Times">Its time by layer.</param>
/// <param name="Members">Its requests to member disks, in the order of their begin.</param>
public sealed record TracedRequest(string Command, long Offset, long Length, TraceTimes Times, TracedMember[] Members);

/// <summary>Requests of a virtual disk in a stretch of time, and the slowest of them.</summary>
/// <param name="VirtualDisk">Its name.</param>
/// <param name="DurationNs">The stretch, in nanoseconds.</param>
/// <param name="Requests">Requests that ended in it and are still in the ring of the lane.</param>
/// <param name="IsWhole">Whether the ring held all of them; else these are the last ones.</param>
/// <param name="Mean">Mean time of a request by layer; null: there was none.</param>
/// <param name="Slowest">The slowest ones, the slowest first.</param>
public sealed record TraceReport(string VirtualDisk, long DurationNs, int Requests, bool IsWhole, TraceTimes? Mean, TracedRequest[] Slowest)
{
    /// <summary>Makes a report.</summary>
    /// <param name="virtualDisk">Name of the virtual disk.</param>
    /// <param name="durationNs">The stretch, in nanoseconds.</param>
    /// <param name="spans">The spans of the lane, as its ring holds them.</param>
    /// <param name="export">The export of the virtual disk.</param>
    /// <param name="slowest">Most requests to show.</param>
    /// <param name="nameOf">Returns the name of a member disk.</param>
    internal static TraceReport Of(
        string virtualDisk, long durationNs, TraceSpan[] spans, NbdExport export, int slowest, Func<MeteredDisk, string> nameOf)
    {
        Dictionary<ulong, List<TraceSpan>> byRequest = [];
        foreach (TraceSpan span in spans)
        {
            if (!byRequest.TryGetValue(span.Request, out List<TraceSpan>? own))
            {
                byRequest[span.Request] = own = [];
            }

            own.Add(span);
        }

        List<(TraceSpan Whole, List<TraceSpan> Spans, TraceTimes Times)> requests = [];
        foreach (List<TraceSpan> own in byRequest.Values)
        {
            if (own.FindIndex(span => span.Layer == TraceLayer.Engine && span.Source == export) is >= 0 and int whole)
            {
                requests.Add((own[whole], own, TimesOf(own[whole], own)));
            }
        }

        return new TraceReport(
            virtualDisk, durationNs, requests.Count, spans.Length < TraceRing.Capacity, MeanOf(requests.ConvertAll(static request => request.Times)),
            [.. requests.OrderByDescending(static request => request.Times.TotalNs).Take(slowest).Select(request => new TracedRequest(
                ((NbdCommand)request.Whole.Operation).ToString(), request.Whole.Offset, request.Whole.Length, request.Times,
                MembersOf(request.Whole, request.Spans, nameOf)))]);
    }

    /// <summary>
    /// Divides the time of a request among the layers. A moment that belongs to several belongs to the last of them in the order of <see cref="TraceLayer"/>.
    /// </summary>
    internal static TraceTimes TimesOf(in TraceSpan whole, List<TraceSpan> spans)
    {
        SortedSet<long> borders = [whole.StartNs, whole.EndNs];
        foreach (TraceSpan span in spans)
        {
            borders.Add(Math.Clamp(span.StartNs, whole.StartNs, whole.EndNs));
            borders.Add(Math.Clamp(span.EndNs, whole.StartNs, whole.EndNs));
        }

        long[] times = new long[Enum.GetValues<TraceLayer>().Length];
        long begin = whole.StartNs;
        foreach (long end in borders)
        {
            TraceLayer layer = TraceLayer.Engine;
            foreach (TraceSpan span in spans)
            {
                layer = span.StartNs <= begin && span.EndNs >= end && span.Layer > layer ? span.Layer : layer;
            }

            times[(int)layer] += end - begin;
            begin = end;
        }

        return new TraceTimes(
            times[(int)TraceLayer.Queue], times[(int)TraceLayer.Engine], times[(int)TraceLayer.Region], times[(int)TraceLayer.ChecksumPage],
            times[(int)TraceLayer.MemberDisk], times[(int)TraceLayer.Flush]);
    }

    private static TraceTimes? MeanOf(List<TraceTimes> all) => all.Count == 0 ? null : new TraceTimes(
        (long)all.Average(static times => times.QueueNs), (long)all.Average(static times => times.EngineNs),
        (long)all.Average(static times => times.RegionNs), (long)all.Average(static times => times.ChecksumPageNs),
        (long)all.Average(static times => times.MemberDiskNs), (long)all.Average(static times => times.FlushNs));

    private static TracedMember[] MembersOf(TraceSpan whole, List<TraceSpan> spans, Func<MeteredDisk, string> nameOf) =>
    [
        .. spans.Where(static span => span.Source is MeteredDisk).OrderBy(static span => span.StartNs).Select(span => new TracedMember(
            nameOf((MeteredDisk)span.Source!), ((MemberOperation)span.Operation).ToString(), span.Offset, span.Length,
            span.StartNs - whole.StartNs, span.EndNs - span.StartNs)),
    ];
}
