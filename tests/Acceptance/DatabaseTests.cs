using System.Diagnostics;
using System.Globalization;

namespace TierSpaces.Acceptance;

/// <summary>The layout of docs/databases.md with PostgreSQL, in the long run where it is installed: transactions under kills of the host.</summary>
public sealed class DatabaseTests : IDisposable
{
    private const string Programs = "/usr/lib/postgresql";
    private const int Sessions = 4;
    private readonly Home _home = new();

    public void Dispose() => _home.Dispose();

    [Fact]
    public void Sessions_of_a_database_see_a_pause_and_no_error_while_the_host_is_killed()
    {
        Assert.SkipUnless(Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1", "in the long run");
        Assert.SkipUnless(Directory.Exists(Programs), "PostgreSQL is not installed: sudo apt-get install -y postgresql");
        Tool.NeedDevices();
        string programs = Path.Combine(Directory.GetDirectories(Programs).Max()!, "bin");
        Tool.Run("chmod", "755", _home.Root);
        _home.NewPool("2GB");
        string place = _home.PathOf("pg"), data = Path.Combine(place, "data"), sockets = Directory.CreateDirectory(_home.PathOf("run")).FullName;
        _home.Run(
            "New-Volume", "-StoragePoolFriendlyName", "p", "-FriendlyName", "pg", "-Size", "2GB", "-ResiliencySettingName", "Mirror", "-FileSystem", "xfs",
            "-AccessPath", place);
        Tool.Run("install", "-d", "-o", "postgres", "-g", "postgres", "-m", "0700", data);
        Tool.Run("chown", "postgres", sockets);
        AsPostgres($"{programs}/initdb", "--data-checksums", "-D", data);
        AsPostgres($"{programs}/pg_ctl", "-D", data, "-l", $"{data}/log", "-w", "-o", $"-c listen_addresses='' -k {sockets}", "start");
        try
        {
            AsPostgres($"{programs}/pgbench", "-h", sockets, "-i", "-s", "5", "-q", "postgres");
            using Process load = Tool.Start(
                "runuser", "-u", "postgres", "--", $"{programs}/pgbench", "-h", sockets, "-c", $"{Sessions}", "-j", "2", "-T", "120", "postgres");
            List<double> pauses = [];
            while (!load.WaitForExit(4000))
            {
                pauses.Add(_home.KillHost(_home.Host).TotalSeconds);
            }

            Answer answer = Tool.End(load);
            Assert.True(answer.ExitCode == 0, answer.Text);
            Assert.Contains("number of failed transactions: 0", answer.Text, StringComparison.Ordinal);
            AsPostgres($"{programs}/psql", "-h", sockets, "-c", "create extension amcheck", "postgres");
            AsPostgres($"{programs}/pg_amcheck", "-h", sockets, "--heapallindexed", "postgres");
            string[] columns =
            [
                "abalance) from pgbench_accounts", "bbalance) from pgbench_branches", "tbalance) from pgbench_tellers", "delta) from pgbench_history",
            ];
            string[] sums = [.. columns
                .Select(what => AsPostgres($"{programs}/psql", "-h", sockets, "-A", "-t", "-c", $"select sum({what}", "postgres").Trim())];
            Assert.Single(sums.Distinct());
            Assert.DoesNotContain("PANIC", File.ReadAllText($"{data}/log"), StringComparison.Ordinal);
            string rate = answer.Output.Split('\n').First(static line => line.StartsWith("tps", StringComparison.Ordinal));
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"PostgreSQL: {pauses.Count} kills under {Sessions} sessions, host back after {pauses.Max():F2} s at most. {rate}"));
        }
        finally
        {
            AsPostgres($"{programs}/pg_ctl", "-D", data, "-m", "fast", "-w", "stop");
        }

        _home.Run("stop", "-Force");
    }

    private static string AsPostgres(params string[] words) => Tool.Run("runuser", ["-u", "postgres", "--", .. words]);
}
