using System.Globalization;

namespace TierSpaces.Bench.Tables;

/// <summary>Measures the real host beside other servers and writes the tables of docs/performance.md.</summary>
internal static class TableCommand
{
    private const string Peers = "peers";
    private const string TestedMoves = "Background moves";   // of simulated time: a test measures it, and the section stays as it is
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
        string executable = Path.Combine(root, "bin", "host", "tierspaces");
        PerformanceDocument document = new(MachineFacts.Now(), rounds, seconds, isLong);
        (string Name, string Title, Func<string?> Text)[] sections =
        [
            ("tiers", TierMemory.Title, TierMemory.Text),
            ("jobs", ClientsBesideJobs.Title, () => Measure(document, ClientsBesideJobs.Prepare, document.JobsText)),
            ("checksums", ChecksumCost.Title, () => Measure(document, ChecksumCost.Prepare, document.ChecksumText)),
            ("strips", StripCost.Title, () => Measure(document, StripCost.Prepare, document.StripText)),
            ("device", DeviceSpeed.Title, () => MeasureDevice(document)),
            ("parity", ParityOverIsaL.Title, () => ParityOverIsaL.Text(isLong ? 31 : 15, MachineFacts.Now())),
            ("cores", CoreCost.Title, () => CoreCost.Text(isLong ? 31 : 9, MachineFacts.Now())),
            ("lanes", LaneScaling.Title, () => LaneScaling.Text(isLong ? 31 : 9, MachineFacts.Now())),
        ];
        string[] names = [Peers, .. sections.Select(section => section.Name)];
        if (only.Length > 0 && !names.Contains(only))
        {
            throw new ArgumentException($"--only is '{only}'; it may be {string.Join(", ", names)}.");
        }

        bool isHead = only.Length == 0 || only == Peers;
        string former = isHead && !File.Exists(output) ? "" : File.ReadAllText(output);
        string text = !isHead ? former : Compare(document, NewRun(), executable, memory, disk);
        foreach ((string name, string title, Func<string?> measured) in sections)
        {
            string section = (only.Length == 0 || only == name ? measured() : null) ?? PerformanceDocument.SectionOf(former, title);
            text = section.Length == 0 ? text : PerformanceDocument.With(text, title, section);
        }

        string moves = PerformanceDocument.SectionOf(former, TestedMoves);
        text = moves.Length == 0 ? text : PerformanceDocument.With(text, TestedMoves, moves);
        File.WriteAllText(output, text);
        Console.WriteLine($"written: {output}");

        string? MeasureDevice(PerformanceDocument written)
        {
            if (DeviceSpeed.Obstacle() is { } obstacle)
            {
                Console.WriteLine($"The section '{DeviceSpeed.Title}' is not measured: {obstacle}");
                return null;
            }

            return Measure(written, (host, folder) => DeviceSpeed.Prepare(host, folder, host.Places), written.DeviceText);
        }

        SectionRun NewRun() => new(rounds, seconds, patience);

        string Measure(PerformanceDocument written, Func<BenchHost, BackingFolder, Section> prepare, Func<IReadOnlyList<MeasuredRow>, Spread?, string> words)
        {
            using BackingFolder folder = new(memory);
            using BenchHost host = new(executable);
            host.Start();
            written.Host = $"{host.Runtime}, {host.Backend}";
            SectionRun run = NewRun();
            return words(run.Measure(prepare(host, folder)), run.OthersCpu);
        }
    }

    /// <summary>The host beside other servers; the document up to its sections that can be measured alone.</summary>
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
            targets.Add(FioTarget.OfFile(Plan.Fio, image));
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
