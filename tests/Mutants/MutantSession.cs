using System.Collections.Concurrent;
using System.Globalization;
using TierSpaces.Simulation;

namespace TierSpaces.Mutants;

/// <summary>A run over all mutants: which seeds reach what, then the simulator, then the tests, then the table.</summary>
public sealed class MutantSession
{
    private readonly string[] _args;
    private readonly MutantRun _run;
    private readonly ResultFile _results;
    private readonly EngineTests _tests;
    private readonly ulong[] _seeds;
    private readonly int _tries;   // seeds for one mutant, at most
    private readonly int _jobs;
    private readonly ConcurrentBag<MutantProcess> _idle = [];
    private readonly Dictionary<ulong, HashSet<int>> _reached = [];

    private MutantSession(string[] args, MutantRun run)
    {
        _args = args;
        _run = run;
        _jobs = Number("-Jobs", Environment.ProcessorCount);
        int from = Number("-FromScenario", 0);
        IEnumerable<int> seeds = Enumerable.Range(1, int.MaxValue).Where(seed => (seed - 1) % SpaceScenario.All.Count >= from);
        _seeds = [.. seeds.Take(Number("-Seeds", 240)).Select(static seed => (ulong)seed)];
        _tries = Number("-Tries", _seeds.Length);
        _results = new ResultFile(Text("-Results", ""), run.Mutants);
        _tests = new EngineTests(run.Engine, Text("-Classes", ""));
    }

    /// <summary>Runs what the arguments say.</summary>
    public static async Task<int> RunAsync(string[] args)
    {
        using MutantRun run = args.Contains(MutantWorker.InvariantsAlone) ? MutantRun.OfInvariants() : new MutantRun();
        MutantSession session = new(args, run);
        try
        {
            return await session.RunAsync();
        }
        finally
        {
            session._idle.ToList().ForEach(process => process.Dispose());
            session._tests.Dispose();
        }
    }

    private async Task<int> RunAsync()
    {
        string[] only = Text("-Only", "").Split('|');
        Mutant[] chosen = [.. _run.Mutants.Where(mutant => only.Any(text => mutant.Name.Contains(text, StringComparison.OrdinalIgnoreCase)))];
        if (_args.Contains("-List"))
        {
            Array.ForEach(chosen, mutant => Console.WriteLine($"{mutant.Kind} {mutant.Name}"));
            return 0;
        }

        if (_args.Contains(MutantWorker.InvariantsAlone))
        {
            await SimulateAsync(chosen);
            return SayLayers(chosen);
        }

        string table = Text("-Table", "");
        MutantResult[] earlier = File.Exists(table) ? [.. MutantTable.Read(await File.ReadAllTextAsync(table), _run.Mutants)] : [];
        Mutant[] open = [.. chosen.Where(mutant => !_results.IsKnown(mutant) && Equivalents.ReasonOf(mutant) is null)];
        await SimulateAsync(open);
        Mutant[] left = [.. open.Where(mutant => !_results.IsKnown(mutant))];
        if (left.Length > 0)
        {
            await TestAsync(left, earlier);
        }

        int equivalent = chosen.Count(mutant => Equivalents.ReasonOf(mutant) is not null);
        int noticed = chosen.Count(_results.IsKnown);
        if (table.Length > 0)
        {
            earlier.Where(result => !open.Contains(result.Mutant)).ToList().ForEach(_results.Keep);
            await File.WriteAllTextAsync(table, MutantTable.Write(_run.Mutants, _results));
        }

        Console.WriteLine($"{chosen.Length} mutants, {noticed} noticed, {equivalent} equivalent");
        return noticed + equivalent == chosen.Length && Equivalents.Unknown(_run.Mutants) + Rules.Unknown(_run.Mutants) == 0 ? 0 : 1;
    }

    private int SayLayers(Mutant[] chosen)
    {
        foreach (IGrouping<string, Mutant> layer in InvariantMutants.All.Where(listed => chosen.Contains(listed.Mutant))
            .GroupBy(static listed => listed.Layer, static listed => listed.Mutant))
        {
            Console.WriteLine($"{layer.Key}: {layer.Count(_results.IsKnown)} of {layer.Count()} noticed by an invariant alone");
        }

        return chosen.All(_results.IsKnown) ? 0 : 1;
    }

    private async Task SimulateAsync(Mutant[] open)
    {
        if (open.Length == 0)
        {
            return;
        }

        await EachAsync(_seeds, async (process, seed) =>
        {
            HashSet<int> reached = await MutantRun.ReachedAsync(process, seed);
            lock (_reached)
            {
                _reached[seed] = reached;
            }
        });
        Console.WriteLine($"{_seeds.Length} seeds reach {_reached.Values.SelectMany(places => places).Distinct().Count()} of {_run.Mutants.Count} places");
        await EachAsync(open, async (process, mutant) =>
        {
            int number = _run.Mutants.ToList().IndexOf(mutant) + 1;
            ulong[] seeds = [.. _seeds.Where(seed => _reached[seed].Contains(number)).Take(_tries)];
            MutantResult result = await _run.RunAsync(process, mutant, seeds);
            Console.WriteLine(result.IsNoticed ? $"noticed after {result.Seeds} seeds: {mutant.Name}: {result.How}"
                : $"not noticed by {seeds.Length} seeds: {mutant.Name}");
            _results.Add(result);
        });
    }

    private async Task TestAsync(Mutant[] left, MutantResult[] earlier)
    {
        ParallelOptions jobs = new() { MaxDegreeOfParallelism = _jobs };
        await _tests.MeasureAsync(jobs);
        await Parallel.ForEachAsync(left, jobs, async (mutant, _) =>
        {
            MutantResult? before = Array.Find(earlier, result => result.Mutant == mutant);
            MutantResult result = await _tests.RunAsync(mutant, _run.Mutants.ToList().IndexOf(mutant) + 1, before);
            Console.WriteLine(result.IsNoticed ? $"noticed: {mutant.Name}: {result.How}" : $"NOT NOTICED: {mutant.Name}");
            _results.Add(result);
        });
    }

    private Task EachAsync<T>(IEnumerable<T> items, Func<MutantProcess, T, Task> work) =>
        Parallel.ForEachAsync(items, new ParallelOptions { MaxDegreeOfParallelism = _jobs }, async (item, _) =>
        {
            MutantProcess process = _idle.TryTake(out MutantProcess? idle) ? idle : _run.NewProcess();
            try
            {
                await work(process, item);
            }
            finally
            {
                _idle.Add(process);
            }
        });

    private int Number(string name, int otherwise) => int.Parse(Text(name, otherwise.ToString(CultureInfo.InvariantCulture)), CultureInfo.InvariantCulture);

    private string Text(string name, string otherwise)
    {
        int at = Array.FindIndex(_args, arg => string.Equals(arg, name, StringComparison.OrdinalIgnoreCase));
        return at >= 0 && at + 1 < _args.Length ? _args[at + 1] : otherwise;
    }
}
