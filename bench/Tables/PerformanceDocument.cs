using System.Globalization;
using System.Text;

namespace TierSpaces.Bench.Tables;

/// <summary>docs/performance.md, from what was measured.</summary>
internal sealed class PerformanceDocument(MachineFacts machine, int rounds, double seconds, bool isLong)
{
    private const double DisturbedFrom = 0.5;   // processors busy with other work

    private readonly StringBuilder _tables = new();

    /// <summary>Runtime and backend of the host.</summary>
    internal string Host { get; set; } = "";

    internal void Add(string title, IReadOnlyList<MeasuredRow> rows) => AppendTable(_tables, title, "", rows);

    /// <summary>The section of this title, "" when there is none.</summary>
    internal static string SectionOf(string text, string title)
    {
        (int from, int end) = PlaceOf(text, title);
        return from < 0 ? "" : text[from..(end < 0 ? text.Length : end)];
    }

    /// <summary>The document with this section in the place of the one of the same title, or at the end when there is none.</summary>
    internal static string With(string text, string title, string section)
    {
        (int from, int end) = PlaceOf(text, title);
        return $"{(from < 0 ? text : text[..from]).TrimEnd()}\n\n{section.Trim()}\n{(end < 0 ? "" : text[end..])}";
    }

    /// <summary>Where a section begins, −1: it is not there; and where the one behind it does, −1: there is none.</summary>
    private static (int From, int End) PlaceOf(string text, string title)
    {
        int from = text.IndexOf($"\n## {title}\n", StringComparison.Ordinal);
        return (from, from < 0 ? -1 : text.IndexOf("\n## ", from + 1, StringComparison.Ordinal));
    }

    /// <summary>Rates that clients keep beside jobs. Measured alone as well, so it carries its own conditions, as the next does.</summary>
    internal string JobsText(IReadOnlyList<MeasuredRow> rows, Spread? othersCpu)
    {
        StringBuilder text = new();
        AppendTable(text, ClientsBesideJobs.Title, string.Create(CultureInfo.InvariantCulture, $"""

            What clients keep of their rate while a job with its default pacing moves data of the same disk: beside it over alone, {rounds} rounds of
            {seconds * ClientsBesideJobs.Stretch:0.#} s each, in turn. The job begins before the load and ends after it, or the run fails. The disks are emulated in real
            time over images in memory. *Drain*: one of the two disks of a mirror is retired and its slabs regenerate on a third. *Optimization*: slices
            change places between the SSD tier and the HDD tier; the range that is loaded stays on the disks that are named.
            {Conditions(othersCpu)}
            `./build.sh Bench --only jobs` measures this section again and leaves the others as they are.{Warning(othersCpu)}

            """), rows);
        return text.ToString();
    }

    /// <summary>Cost of checksums.</summary>
    internal string ChecksumText(IReadOnlyList<MeasuredRow> rows, Spread? othersCpu)
    {
        StringBuilder text = new();
        AppendTable(text, ChecksumCost.Title, string.Create(CultureInfo.InvariantCulture, $"""

            What checksums cost: a simple disk with them over one without, both on the same disk of the same host, loaded one after the other, and with
            reads in short turns. {rounds} rounds of {seconds:0.#} s, {ChecksumCost.SlowStretch} times as long on the emulated rotating disk. *8 times the page cache*: {ChecksumCost.LargeSize >> 30} GiB of which one block in each
            {ChecksumCost.PageReach >> 20} MiB is used, so that every request needs another checksum page and seven of eight are not in memory.
            {Conditions(othersCpu)}
            `./build.sh Bench --only checksums` measures this section again and leaves the others as they are.
            A page that is not in memory costs a read of its own, and one that has changed is later written and read back; so over 8 times the page
            cache, at one request for each page, more than half the rate of a disk in memory is not to be had.{Warning(othersCpu)}

            """), rows);
        return text.ToString();
    }

    /// <summary>The block device beside others.</summary>
    internal string DeviceText(IReadOnlyList<MeasuredRow> rows, Spread? othersCpu)
    {
        StringBuilder text = new();
        AppendTable(text, DeviceSpeed.Title, string.Create(CultureInfo.InvariantCulture, $"""

            What users mount. *device*: a simple disk with checksums over an image in memory, by FUSE that the host speaks and a loop device. *NBD socket*: the same disk without them, by fio's nbd engine.
            *device by nbdkit*: the way of older kernels. *loop on a plain file*: no TierSpaces at all, in the same memory: what the kernel itself allows. {rounds} rounds of {seconds:0.#} s for each, one after the
            other in an order that is reversed every other round; fio loads all of them, with io_uring and direct I/O where it is a file or a device.
            {Conditions(othersCpu)}
            `./build.sh Bench --only device` measures this section again, as root, and leaves the others as they are.{Warning(othersCpu)}

            """), rows);
        return text.ToString();
    }

    /// <summary>Cost of short strips.</summary>
    internal string StripText(IReadOnlyList<MeasuredRow> rows, Spread? othersCpu)
    {
        StringBuilder text = new();
        AppendTable(text, StripCost.Title, string.Create(CultureInfo.InvariantCulture, $"""

            What short strips cost: simple disks over the same four columns of the same host, images in memory. {rounds} rounds of {seconds:0.#} s. The strips of a request
            that lie on one disk follow each other there, and are one request to that disk: of 1 MiB four, with strips of 16 KiB too.
            {Conditions(othersCpu)}
            `./build.sh Bench --only strips` measures this section again and leaves the others as they are.{Warning(othersCpu)}

            """), rows);
        return text.ToString();
    }

    private string Conditions(Spread? othersCpu) => $"""
        Machine: {machine.Processor}, {machine.Cores} cores; host: {Host}; load average (1 minute) before the first run {machine.LoadAverage};
        processors busy with other work while measuring {othersCpu?.ToString() ?? "–"}; {(isLong ? "long" : "short")} run.
        """;

    private static string Warning(Spread? othersCpu) => othersCpu is { Median: > DisturbedFrom } ? Disturbed : "";

    private static void AppendTable(StringBuilder text, string title, string preface, IReadOnlyList<MeasuredRow> rows)
    {
        text.Append(CultureInfo.InvariantCulture, $"""

            ## {title}
            {preface}
            | Load | TierSpaces | over | rate | required (aim) | server CPU per request | required |
            |---|---|---|---|---|---|---|

            """);
        foreach (MeasuredRow row in rows)
        {
            Comparison compared = row.Comparison;
            string rate = row.Misses ? $"{row.Rate} **missed**" : row.Rate.ToString();
            text.Append(
                CultureInfo.InvariantCulture,
                $"| {row.Load.Name} | {compared.Ours} | {compared.Other} | {rate} | {compared.BarText} | {row.Cpu?.ToString() ?? "–"} | {compared.CpuBarText} |\n");
        }
    }

    /// <summary>Said of a run that has to be repeated before its rates are believed.</summary>
    private const string Disturbed = """


        **This run was disturbed: other work kept the processors busy all along. Its rates say who was scheduled, not which server is faster; of its
        columns only the CPU ratios are of use. Measure again on a quiet machine.**
        """;

    internal string Text(Spread? othersCpu) => string.Create(CultureInfo.InvariantCulture, $"""
        # Performance

        Ratios, never rates of their own: machines differ and are shared. Each is the median of {rounds} rounds (least–greatest), and each
        round divides two runs of {seconds:0.#} s: writes one after the other, in an order that changes from round to round, reads of servers in
        turns of a tenth of a second (not beside fio, which takes none), so that a machine that is faster now and slower then is so for both. Above 1 the virtual disk is faster; server CPU below 1 means that it
        costs less. Rounds in which the machine did other work beside are measured again while there is time, and the least disturbed count; the
        table says how much was left of that: on two cores a third busy process takes more from a server of one thread than from one of many, and the
        CPU columns are then the steadier ones. Everything goes through NBD on a Unix socket, one connection, loaded by the same lean client; the host is the real executable, driven by
        its command line. Disks and files are 512 MiB, written once and flushed before anything is measured; a simple disk lies on one
        image file, a mirror on two, with one column and 4 KiB sectors.

        `./build.sh Bench` measures again and rewrites this file; `./build.sh Bench -Long` takes longer and more rounds; with
        `--only peers` it measures the tables up to the next section alone, and leaves the others as they are.

        | | |
        |---|---|
        | Machine | {machine.Processor}, {machine.Cores} cores, Linux {machine.Kernel} |
        | Host | {Host} |
        | Others | {string.Join("; ", machine.Peers)} |
        | Load average (1 minute) before the first run | {machine.LoadAverage} |
        | Processors busy with other work while measuring | {othersCpu?.ToString() ?? "–"} |
        | Run | {(isLong ? "long" : "short")} |

        In memory the others run as they do of their own accord; on a disk `qemu-nbd` runs with `--cache=none --aio=io_uring -f raw`, and fio
        with `--ioengine=io_uring --direct=1`.{Warning(othersCpu)}
        {_tables}
        """);
}
