using System.Diagnostics;
using System.Globalization;

namespace TierSpaces.Mutants;

/// <summary>
/// The engine's own tests, run against the planted engine: what the simulator cannot see (sub-sector writes, labels, unmapping at the
/// edges) they can. Every class is run once without a mutant, which says which places it reaches and how long it takes; a mutant is
/// then tried on those that reach it, short ones first.
/// </summary>
public sealed class EngineTests : IDisposable
{
    private static readonly TimeSpan s_longest = TimeSpan.FromMinutes(10);   // of processor time, without a mutant
    private static readonly string[] s_folders =
        ["Primitives", "Formats", "Journals", "Pools", "Resiliency", "Caching", "Tiering", "VirtualDisks", "Jobs", "Management"];

    private const string Hangs = "hangs";

    private readonly string _engine;
    private readonly string[] _only;   // classes to run; empty: all that belong to these layers
    private readonly string _folder = Directory.CreateDirectory(
        Path.Combine(AppContext.BaseDirectory, Path.GetRandomFileName())).FullName;   // within the repository: some tests look at its documents
    private readonly List<TestClass> _classes = [];

    /// <summary>Uses the tests as they are built beside this program, all or only some classes, by name and separated by commas.</summary>
    public EngineTests(string engine, string only)
    {
        _engine = engine;
        _only = only.Split(',', StringSplitOptions.RemoveEmptyEntries);
    }

    private static string Tests => Path.GetFullPath(Path.Combine(AppContext.BaseDirectory, "../../../../Engine.Tests/bin/Release/net8.0"));

    /// <summary>Copies the tests beside the planted engine and runs each class without a mutant.</summary>
    public async Task MeasureAsync(ParallelOptions jobs)
    {
        foreach (string file in Directory.GetFiles(Tests).Where(file => Path.GetFileName(file) != "TierSpaces.Engine.dll"))
        {
            File.Copy(file, Path.Combine(_folder, Path.GetFileName(file)));   // no link: a program is run from where its file really is
        }

        File.Copy(_engine, Path.Combine(_folder, "TierSpaces.Engine.dll"));
        string sources = Path.GetFullPath(Path.Combine(Tests, "../../.."));
        IEnumerable<string> classes = s_folders
            .SelectMany(folder => Directory.GetFiles(Path.Combine(sources, folder), "*Tests.cs", SearchOption.AllDirectories))
            .Select(static file => Path.GetFileNameWithoutExtension(file)).Where(name => _only.Length == 0 || _only.Contains(name));
        await Parallel.ForEachAsync(classes, jobs, async (name, _) => await MeasureAsync(name));
        _classes.Sort((a, b) => a.Time.CompareTo(b.Time));
    }

    private async Task MeasureAsync(string name)
    {
        string reached = Path.Combine(_folder, $"reached-{name}");
        (string failed, TimeSpan time) = await RunAsync(0, ["-class", $"*.{name}"], reached, s_longest);
        if (failed.Length > 0)   // once: that may be the machine's
        {
            (failed, time) = await RunAsync(0, ["-class", $"*.{name}"], reached, s_longest);
        }

        if (failed.Length > 0)
        {
            throw new InvalidOperationException($"The tests fail without a mutant: {failed}");
        }

        int[] places = [.. (await File.ReadAllTextAsync(reached)).Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(int.Parse)];
        Console.WriteLine($"{name}: {time.TotalSeconds:F0} s, {places.Length} places");
        lock (_classes)
        {
            _classes.Add(new TestClass(name, time, [.. places]));
        }
    }

    /// <summary>Runs the classes that reach a mutant, until a test fails, and fails again: one failure may be the machine's.</summary>
    /// <param name="mutant">The mutant.</param>
    /// <param name="number">Its number.</param>
    /// <param name="earlier">Its result of an earlier run, the class of which is tried first; null for none.</param>
    public async Task<MutantResult> RunAsync(Mutant mutant, int number, MutantResult? earlier)
    {
        string first = earlier?.How.Split('.', ' ')[0] ?? "";
        foreach (TestClass tests in _classes.Where(tests => tests.Reached.Contains(number)).OrderByDescending(tests => tests.Name == first))
        {
            string failed = await FailureAsync(tests, number);
            if (failed.Length > 0 && (failed == Hangs || await FailureAsync(tests, number) == failed))
            {
                return new MutantResult(mutant, 0, failed == Hangs ? $"{tests.Name} does not end" : failed);
            }
        }

        return new MutantResult(mutant, 0, "");
    }

    private async Task<string> FailureAsync(TestClass tests, int number) =>
        (await RunAsync(number, ["-class", $"*.{tests.Name}", "-stopOnFail"], "", (tests.Time * 4) + TimeSpan.FromSeconds(20))).Failed;

    /// <inheritdoc/>
    public void Dispose() => Directory.Delete(_folder, recursive: true);

    /// <summary>The first test that failed, or empty; one that took too much processor time "hangs", and so does one that makes no progress.</summary>
    private async Task<(string Failed, TimeSpan Time)> RunAsync(int number, string[] filter, string reached, TimeSpan patience)
    {
        ProcessStartInfo start = new(
            "dotnet", ["exec", Path.Combine(_folder, "TierSpaces.Engine.Tests.dll"), "-noLogo", "-noColor", .. filter]) { RedirectStandardOutput = true };
        start.Environment[MutantPlanter.Variable] = number.ToString(CultureInfo.InvariantCulture);
        if (reached.Length > 0)
        {
            start.Environment["DOTNET_STARTUP_HOOKS"] = typeof(EngineTests).Assembly.Location;
            start.Environment[StartupHook.Variable] = reached;
        }

        using Process process = Process.Start(start)!;
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        Stopwatch clock = Stopwatch.StartNew();
        TimeSpan time = default;
        while (await Task.WhenAny(output, Task.Delay(200)) != output)
        {
            time = process.HasExited ? time : process.TotalProcessorTime;
            if (time > patience || clock.Elapsed > (patience * 4) + TimeSpan.FromSeconds(60))
            {
                process.Kill();
                return (Hangs, time);
            }
        }

        await process.WaitForExitAsync();
        string? line = (await output).Split('\n').FirstOrDefault(line => line.EndsWith("[FAIL]", StringComparison.Ordinal));
        string failed = line is not null ? Short(line) : process.ExitCode != 0 ? "the process of the tests died" : "";
        return (failed, time);
    }

    /// <summary>Class and method of "    TierSpaces.Engine.Tests.Pools.PoolTests.Name(arguments) [FAIL]".</summary>
    private static string Short(string line)
    {
        string name = line.Trim().Replace(" [FAIL]", "", StringComparison.Ordinal).Split('(')[0];
        return string.Join('.', name.Split('.').TakeLast(2));
    }

    private sealed record TestClass(string Name, TimeSpan Time, HashSet<int> Reached);
}
