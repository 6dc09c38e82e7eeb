using System.Diagnostics;
using System.Globalization;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>Verified load: every block carries a CRC32C that fio checks when it reads it back.</summary>
internal static class Fio
{
    private static readonly string[] s_verified = ["--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0", "--output-format=json"];

    /// <summary>Random writes to files of a mounted file system past its cache, read back all along.</summary>
    internal static Process StartOnFiles(string folder, int seconds) => Tool.Start(
        "fio",
        [
            "--name=load", $"--directory={folder}", "--rw=randwrite", "--bs=4k", "--size=12M", "--numjobs=2", "--direct=1",
            "--ioengine=libaio", "--iodepth=8", "--verify_backlog=256", "--time_based", $"--runtime={seconds}", .. s_verified,
        ]);

    /// <summary>Random reads and writes through NBD, eight jobs on eight parts of the disk.</summary>
    internal static long RunOnExport(string uri, int block, string folder)
    {
        string[] arguments =
        [
            "--name=verify", "--ioengine=nbd", $"--uri={uri}", "--rw=randrw", $"--bs={block}", "--iodepth=16", "--numjobs=8",
            "--size=4M", "--offset_increment=8M", "--io_size=4M", "--do_verify=1", "--fsync=256", $"--aux-path={folder}", .. s_verified,
        ];
        return Check(Tool.TryRun("fio", arguments), 8);
    }

    /// <summary>
    /// Random writes through NBD for a time, read back and verified all along; the longest latency of every 250 ms goes to files whose names
    /// begin with <paramref name="log"/>.
    /// </summary>
    internal static Process StartOnExport(string uri, int seconds, string folder, string log) => Tool.Start(
        "fio",
        [
            "--name=load", "--ioengine=nbd", $"--uri={uri}", "--rw=randwrite", "--bs=4k", "--iodepth=8", "--size=64M", "--rate_iops=2000",
            "--verify_backlog=64", "--time_based", $"--runtime={seconds}", $"--aux-path={folder}",
            $"--write_lat_log={log}", "--log_avg_msec=250", "--log_max_value=1", .. s_verified,
        ]);

    /// <summary>The series that <see cref="StartOnExport"/> has left: when, and the longest latency until then, in milliseconds.</summary>
    internal static (long AtMs, long LatencyMs)[] Series(string log) =>
    [
        .. Directory.GetFiles(Path.GetDirectoryName(log)!, $"{Path.GetFileName(log)}_clat*.log").SelectMany(File.ReadLines)
            .Select(line => line.Split(',')).Select(words => (Number(words[0]), Number(words[1]) / 1_000_000)),
    ];

    private static long Number(string word) => long.Parse(word.Trim(), CultureInfo.InvariantCulture);

    /// <summary>No job had an error; returns the number of writes.</summary>
    internal static long Check(Answer answer, int jobs)
    {
        Assert.True(answer.ExitCode == 0, $"fio: exit code {answer.ExitCode}\n{answer.Text}");
        using JsonDocument report = JsonDocument.Parse(answer.Output[answer.Output.IndexOf('{')..]);
        JsonElement[] results = [.. report.RootElement.GetProperty("jobs").EnumerateArray()];
        Assert.Equal(jobs, results.Length);
        Assert.All(results, job => Assert.Equal(0, job.GetProperty("error").GetInt32()));
        return results.Sum(job => job.GetProperty("write").GetProperty("total_ios").GetInt64());
    }
}
