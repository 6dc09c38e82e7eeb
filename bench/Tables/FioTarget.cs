using System.Globalization;
using System.Text.Json;

namespace TierSpaces.Bench.Tables;

/// <summary>The bare file, read or written by fio through io_uring with direct I/O: no server, no socket.</summary>
internal sealed record FioTarget(string Name, string Image) : IMeasured
{
    public Measurement Measure(Workload workload, double seconds)
    {
        string output = Programs.Run("fio", [
            "--name=bare", $"--filename={Image}", "--ioengine=io_uring", "--direct=1", $"--rw={workload.Mode}", $"--bs={workload.Block}",
            $"--iodepth={workload.Depth}", "--time_based", string.Create(CultureInfo.InvariantCulture, $"--runtime={seconds * 1000:F0}ms"),
            "--output-format=json"]);
        using JsonDocument report = JsonDocument.Parse(output[output.IndexOf('{')..]);
        JsonElement job = report.RootElement.GetProperty("jobs")[0].GetProperty(workload.Writes ? "write" : "read");
        return new Measurement(job.GetProperty("iops").GetDouble(), null, null);
    }
}
