using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.CommandLine;

namespace TierSpaces.Host.Tracing;

/// <summary>The command <c>trace DISK</c>: the slowest requests of a virtual disk, and where their time went.</summary>
internal static class TraceCommand
{
    /// <summary>Name on the management socket.</summary>
    internal const string Name = "Trace";

    private const double NsPerMs = 1_000_000;

    private static readonly string[] s_headings = ["total ms", "queue", "engine", "region", "checksums", "disks", "flush"];

    /// <summary>trace [--seconds S] [--count N] [--json] DISK</summary>
    public static Command Create(Func<string, Func<Task<int>>, Task<int>> report)
    {
        Argument<string> disk = new Argument<string>("disk") { Description = "Friendly name of a virtual disk that is connected." };
        Option<double> seconds = new Option<double>("--seconds") { Description = "Time to watch, at most 60.", DefaultValueFactory = _ => 5 };
        Option<int> count = new Option<int>("--count") { Description = "Requests to show, at most 1000.", DefaultValueFactory = _ => 10 };
        Option<bool> json = new Option<bool>("--json", "-Json") { Description = CommonParameters.HelpOf(CommonParameters.Json) };
        Command command = new Command("trace", "Prints the slowest requests of a virtual disk and the time that they spent in each layer.")
        {
            disk, seconds, count, json,
        };
        command.SetAction((result, cancellation) => report("trace", () => RunAsync(
            result.GetValue(disk)!, result.GetValue(seconds), result.GetValue(count), result.GetValue(json), cancellation)));
        return command;
    }

    /// <summary>Prints a report as a table: a line for each request, below it what it asked of member disks.</summary>
    internal static void Print(TraceReport report, TextWriter output)
    {
        output.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{report.VirtualDisk}: {report.Requests} requests ended within {report.DurationNs / 1e9:F1} s{(report.IsWhole ? "" : "; older ones are forgotten")}."));
        if (report.Mean is not { } mean)
        {
            return;
        }

        output.WriteLine(Line(s_headings, "request"));
        foreach (TracedRequest request in report.Slowest)
        {
            output.WriteLine(Line(Cells(request.Times), $"{request.Command} {SizeText.Range(request.Offset, request.Length)}"));
            foreach (TracedMember member in request.Members)
            {
                string place = member.Offset < 0 ? "" : $" {SizeText.Range(member.Offset, member.Length)}";
                output.WriteLine($"{"",10} {Ms(member.BeginNs)} + {Ms(member.DurationNs)} {member.Disk}: {member.Operation}{place}");
            }
        }

        output.WriteLine(Line(Cells(mean), "mean of all requests"));
    }

    private static async Task<int> RunAsync(string disk, double seconds, int count, bool isJson, CancellationToken cancellation)
    {
        using ManagementClient client = new ManagementClient(launcher: ProcessHostLauncher.LaunchAsync);
        VirtualDiskInfo[] found = await client.InvokeAsync(new GetVirtualDiskRequest { FriendlyName = [disk] }, cancellation).ConfigureAwait(false);
        if (found.Length != 1)
        {
            throw new UsageException($"'{disk}' names {found.Length} virtual disks; a trace is of one.");
        }

        byte[] body = JsonSerializer.SerializeToUtf8Bytes(new TraceRequest(Guid.Parse(found[0].UniqueId), seconds, count), TraceJson.Default.TraceRequest);
        byte[] answer = await client.SendAsync(Name, body, cancellation).ConfigureAwait(false);
        TraceReply reply = JsonSerializer.Deserialize(answer, TraceJson.Default.TraceReply)!;
        if (reply.Report is not { } report)
        {
            throw new StorageException(reply.Error!);
        }

        if (isJson)
        {
            Console.Out.WriteLine(JsonSerializer.Serialize(report, TraceJson.Default.TraceReport));
        }
        else
        {
            Print(report, Console.Out);
        }

        return 0;
    }

    private static string[] Cells(TraceTimes times) =>
        [Ms(times.TotalNs), Ms(times.QueueNs), Ms(times.EngineNs), Ms(times.RegionNs), Ms(times.ChecksumPageNs), Ms(times.MemberDiskNs), Ms(times.FlushNs)];

    private static string Line(string[] cells, string last) => string.Join(' ', cells.Select(static cell => cell.PadLeft(10))) + "  " + last;

    private static string Ms(long nanoseconds) => (nanoseconds / NsPerMs).ToString("F3", CultureInfo.InvariantCulture);
}
