using System.Globalization;

namespace TierSpaces.Bench.Tables;

/// <summary>Measures the real host beside other servers and writes the tables of docs/performance.md.</summary>
internal static class TableCommand
{
    private const long DiskSize = 512 << 20;

    internal static void Run(Arguments arguments)
    {
        string root = Repository.Root();
        bool isLong = arguments.Flag("Long");
        int rounds = (int)arguments.Number("rounds", isLong ? 7 : 3, 1, 99);
        double seconds = arguments.Number("milliseconds", isLong ? 5000 : 800, 100, 600_000) / 1000.0;
        TimeSpan patience = TimeSpan.FromSeconds(arguments.Number("patience", isLong ? 3600 : 150, 0, 86400));
        string memory = arguments.Text("memory", "/dev/shm");
        string disk = arguments.Text("disk", "/var/tmp");
        string output = arguments.Text("output", Path.Combine(root, "docs", "performance.md"));
        string only = arguments.Text("only", "");
        arguments.ThrowIfUnused();
        if (only is not ("" or "checksums" or "tiers"))
        {
            throw new ArgumentException($"--only is '{only}'; it may be checksums or tiers.");
        }

        if (only == "tiers")
        {
            File.WriteAllText(output, WithTiers(File.ReadAllText(output), TierMemory.Text()));
            Console.WriteLine($"written: {output}");
            return;
        }

        string executable = Path.Combine(root, "bin", "host", "tierspaces");
        PerformanceDocument document = new(MachineFacts.Now(), rounds, seconds, isLong);
        string others = only.Length > 0 ? WithoutChecksums(File.ReadAllText(output)) : Compare(
            document, new SectionRun(rounds, seconds, patience), executable, memory, disk).TrimEnd() + $"\n\n{TierMemory.Text()}";
        File.WriteAllText(output, $"{others.TrimEnd()}\n{CostOfChecksums(document, new SectionRun(rounds, seconds, patience), executable, memory)}");
        Console.WriteLine($"written: {output}");
    }

    /// <summary>The document with another section about the memory of tiers, which stands before the one on checksums.</summary>
    internal static string WithTiers(string text, string section)
    {
        int from = text.IndexOf($"\n## {TierMemory.Title}", StringComparison.Ordinal);
        int end = text.IndexOf($"\n## {ChecksumCost.Title}", StringComparison.Ordinal);
        end = end < 0 ? text.Length : end;
        return $"{text[..(from < 0 ? end : from)].TrimEnd()}\n\n{section.TrimEnd()}\n{text[end..]}";
    }

    private static string WithoutChecksums(string text)
    {
        int at = text.IndexOf($"\n## {ChecksumCost.Title}", StringComparison.Ordinal);
        return at < 0 ? text : text[..at];
    }

    private static string CostOfChecksums(PerformanceDocument document, SectionRun run, string executable, string memory)
    {
        using BackingFolder folder = new(memory);
        using BenchHost host = new(executable);
        host.Start();
        document.Host = $"{host.Runtime}, {host.Backend}";
        return document.ChecksumText(run.Measure(ChecksumCost.Prepare(host, folder)), run.OthersCpu);
    }

    /// <summary>The host beside other servers; the document but for the cost of checksums.</summary>
    private static string Compare(PerformanceDocument document, SectionRun run, string executable, string memory, string disk)
    {
        using (BackingFolder memoryFolder = new(memory), diskFolder = new(disk))
        using (BenchHost host = new(executable))
        {
            host.Start();
            document.Host = $"{host.Runtime}, {host.Backend}";
            foreach ((BackingFolder folder, Func<BenchHost, Servers, BackingFolder, Section> prepare) in
                new (BackingFolder, Func<BenchHost, Servers, BackingFolder, Section>)[] { (memoryFolder, InMemory), (diskFolder, OnDisk) })
            {
                using Servers servers = new();
                document.Add(folder.Description, run.Measure(prepare(host, servers, folder)));
            }
        }

        return document.Text(run.OthersCpu);
    }

    private static Section InMemory(BenchHost host, Servers servers, BackingFolder folder)
    {
        List<IMeasured> targets = Simple(host, "memory", folder);
        host.CreatePool("mirror", DiskSize * 3 / 2, folder.File("mirror1.img"), folder.File("mirror2.img"));
        targets.Add(host.CreateDisk("mirror", Plan.Mirror, "Mirror", "CRC32C", DiskSize).Filled());
        string image = folder.NewFile("peer.img", DiskSize);
        targets.AddRange(servers.Start("nbdkit", () => PeerServer.Nbdkit(image, folder.File("nbdkit.sock"))));
        targets.AddRange(servers.Start("qemu-nbd", () => PeerServer.QemuNbd(image, folder.File("qemu.sock"), direct: false)));
        return new Section(folder.Description, targets, Plan.InMemory);
    }

    private static Section OnDisk(BenchHost host, Servers servers, BackingFolder folder)
    {
        List<IMeasured> targets = Simple(host, "disk", folder);
        string image = folder.NewFile("peer.img", DiskSize);
        targets.AddRange(servers.Start("qemu-nbd", () => PeerServer.QemuNbd(image, folder.File("qemu.sock"), direct: true)));
        if (Programs.IsThere("fio") && targets.Any(target => target.Name == Plan.Qemu))   // which filled the file
        {
            targets.Add(new FioTarget(Plan.Fio, image));
        }

        return new Section(folder.Description, targets, Plan.OnDisk);
    }

    /// <summary>Two simple disks over one image file, without and with checksums.</summary>
    private static List<IMeasured> Simple(BenchHost host, string pool, BackingFolder folder)
    {
        host.CreatePool(pool, DiskSize * 5 / 2, folder.File($"{pool}1.img"));
        return
        [
            host.CreateDisk(pool, Plan.Off, "Simple", "None", DiskSize).Filled(),
            host.CreateDisk(pool, Plan.On, "Simple", "CRC32C", DiskSize).Filled(),
        ];
    }

    /// <summary>The other servers of a section; one that is not installed is named and left out.</summary>
    private sealed class Servers : IDisposable
    {
        private readonly List<PeerServer> _servers = [];

        internal IEnumerable<IMeasured> Start(string program, Func<PeerServer> start)
        {
            if (!Programs.IsThere(program))
            {
                Console.WriteLine($"{program} is not installed, its rows are missing: {Programs.InstallCommand(program)}");
                return [];
            }

            PeerServer server = start();
            _servers.Add(server);
            return [server.Target.Filled()];
        }

        public void Dispose() => _servers.ForEach(server => server.Dispose());
    }
}

/// <summary>A folder for images, with its file system in words; gone at the end.</summary>
internal sealed class BackingFolder : IDisposable
{
    private static int s_made;

    private readonly string _folder;

    internal BackingFolder(string parent)
    {
        _folder = Path.Combine(parent, string.Create(CultureInfo.InvariantCulture, $"tsbench-{Environment.ProcessId}-{Interlocked.Increment(ref s_made)}"));
        Directory.CreateDirectory(_folder);
        string format = MachineFacts.FileSystemOf(parent);
        Description = format == "tmpfs" ? "Images in memory (tmpfs)" : $"Images on {format}, direct I/O";
    }

    internal string Description { get; }

    internal string File(string name) => Path.Combine(_folder, name);

    internal string NewFile(string name, long length)
    {
        using FileStream file = System.IO.File.Create(File(name));
        file.SetLength(length);
        return file.Name;
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);
}
