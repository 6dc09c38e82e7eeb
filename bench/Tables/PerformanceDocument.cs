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

    internal void Add(string title, IReadOnlyList<MeasuredRow> rows)
    {
        _tables.Append(CultureInfo.InvariantCulture, $"""

            ## {title}

            | Load | TierSpaces | over | rate | required (aim) | server CPU per request | required |
            |---|---|---|---|---|---|---|

            """);
        foreach (MeasuredRow row in rows)
        {
            Comparison compared = row.Comparison;
            string rate = row.Misses ? $"{row.Rate} **missed**" : row.Rate.ToString();
            _tables.Append(
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
        round divides two runs of {seconds:0.#} s that followed one another. Above 1 the virtual disk is faster; server CPU below 1 means that it
        costs less. Rounds in which the machine did other work beside are measured again while there is time, and the least disturbed count; the
        table says how much was left of that: on two cores a third busy process takes more from a server of one thread than from one of many, and the
        CPU columns are then the steadier ones. Everything goes through NBD on a Unix socket, one connection, loaded by the same lean client; the host is the real executable, driven by
        its command line. Disks and files are 512 MiB, written once and flushed before anything is measured; a simple disk lies on one
        image file, a mirror on two, with one column and 4 KiB sectors.

        `./build.sh Bench` measures again and rewrites this file; `./build.sh Bench -Long` takes longer and more rounds.

        | | |
        |---|---|
        | Machine | {machine.Processor}, {machine.Cores} cores, Linux {machine.Kernel} |
        | Host | {Host} |
        | Others | {string.Join("; ", machine.Peers)} |
        | Load average (1 minute) before the first run | {machine.LoadAverage} |
        | Processors busy with other work while measuring | {othersCpu?.ToString() ?? "–"} |
        | Run | {(isLong ? "long" : "short")} |

        In memory the others run as they do of their own accord; on a disk `qemu-nbd` runs with `--cache=none --aio=io_uring -f raw`, and fio
        with `--ioengine=io_uring --direct=1`.{(othersCpu is { Median: > DisturbedFrom } ? Disturbed : "")}
        {_tables}
        """);
}
