namespace TierSpaces.Bench.Tables;

/// <summary>Cost of short strips: pairs of simple disks over the same four columns that differ in nothing but the interleave.</summary>
internal static class StripCost
{
    internal const string Title = "Interleave of 16 KiB against 256 KiB";

    private const long Size = 512 << 20;
    private const int Columns = 4;
    private const double Bar = 1 / 1.3;
    private const string Short = "16 KiB";
    private const string Long = "256 KiB";
    private const string Unchecked = ", no checksums";

    private static readonly (Workload, Comparison[])[] s_loads =
    [
        (new("1 MiB sequential write, depth 8", "write", 1 << 20, 8), Rows()),
        (new("1 MiB sequential read, depth 8", "read", 1 << 20, 8), Rows()),
    ];

    internal static Section Prepare(BenchHost host, BackingFolder folder)
    {
        host.CreatePool("strips", Size * 5 / 4, [.. Enumerable.Range(1, Columns).Select(number => folder.File($"strips{number}.img"))]);
        return new Section(Title, [.. Disks(host, "", "CRC32C"), .. Disks(host, Unchecked, "None")], s_loads);
    }

    private static IEnumerable<IMeasured> Disks(BenchHost host, string kind, string checksum) =>
        [Disk(host, Short + kind, 16 << 10, checksum), Disk(host, Long + kind, 256 << 10, checksum)];

    private static NbdTarget Disk(BenchHost host, string name, int interleave, string checksum) => host.CreateDisk(
        "strips", name, Size, "-ResiliencySettingName", "Simple", "-NumberOfColumns", BenchHost.Text(Columns), "-Checksum", checksum,
        "-Interleave", BenchHost.Text(interleave)).Filled();

    private static Comparison[] Rows() => [new(Short, Long, Bar: Bar), new(Short + Unchecked, Long + Unchecked, Bar: Bar)];
}
