using System.Globalization;
using System.Text.Json;

namespace TierSpaces.Bench.Tables;

/// <summary>Something that fio loads: a file or block device through io_uring with direct I/O, or an NBD server.</summary>
/// <param name="Name">As comparisons call it.</param>
/// <param name="Place">Arguments of fio that say what is loaded, and how.</param>
internal sealed record FioTarget(string Name, string[] Place) : IMeasured
{
    /// <summary>A file or block device.</summary>
    internal static FioTarget OfFile(string name, string path) => new(name, [$"--filename={path}", "--ioengine=io_uring", "--direct=1"]);

    /// <summary>An NBD server on a Unix socket.</summary>
    internal static FioTarget OfNbd(string name, string socket, string export) =>
        new(name, ["--ioengine=nbd", $"--uri=nbd+unix:///{Uri.EscapeDataString(export)}?socket={Uri.EscapeDataString(socket)}"]);

    public Measurement Measure(Workload workload, double seconds)
    {
        string output = Programs.Run("fio", [
            "--name=bare", .. Place, $"--rw={workload.Mode}", $"--bs={workload.Block}", $"--iodepth={workload.Depth}", "--time_based",
            string.Create(CultureInfo.InvariantCulture, $"--runtime={seconds * 1000:F0}ms"), "--output-format=json"]);
        using JsonDocument report = JsonDocument.Parse(output[output.IndexOf('{')..]);
        JsonElement job = report.RootElement.GetProperty("jobs")[0].GetProperty(workload.Writes ? "write" : "read");
        return new Measurement(job.GetProperty("iops").GetDouble(), null, null);
    }
}
