using System.Diagnostics;
using System.Globalization;

namespace TierSpaces.Bench.Nbd;

/// <summary>
/// Processor time used so far, in seconds: by this process, by the server (0 when unknown, or when it is this process), by everything on the machine.
/// </summary>
internal readonly record struct ProcessorTimes(double Client, double Server, double Machine)
{
    private const double TicksPerSecond = 100;   // USER_HZ: what /proc counts in

    internal static ProcessorTimes Now(int serverPid)
    {
        using Process self = Process.GetCurrentProcess();
        return new ProcessorTimes(
            self.TotalProcessorTime.TotalSeconds, serverPid == 0 || serverPid == Environment.ProcessId ? 0 : OfProcess(serverPid), OfMachine());
    }

    public static ProcessorTimes operator +(ProcessorTimes one, ProcessorTimes other) =>
        new(one.Client + other.Client, one.Server + other.Server, one.Machine + other.Machine);

    public static ProcessorTimes operator -(ProcessorTimes later, ProcessorTimes earlier) =>
        new(later.Client - earlier.Client, later.Server - earlier.Server, later.Machine - earlier.Machine);

    /// <summary>All its threads, user and system.</summary>
    private static double OfProcess(int pid)
    {
        string stat = File.ReadAllText($"/proc/{pid}/stat");
        string[] fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        return (Ticks(fields[11]) + Ticks(fields[12])) / TicksPerSecond;
    }

    /// <summary>Everything but idle, waiting for I/O, and what the hypervisor took.</summary>
    private static double OfMachine()
    {
        string[] fields = File.ReadLines("/proc/stat").First().Split(' ', StringSplitOptions.RemoveEmptyEntries);
        int[] busy = [1, 2, 3, 6, 7];
        return busy.Sum(index => Ticks(fields[index])) / TicksPerSecond;
    }

    private static long Ticks(string text) => long.Parse(text, CultureInfo.InvariantCulture);
}
