using System.Globalization;
using Mono.Cecil;
using TierSpaces.Mutants;

// Mutate [-Seeds N] [-Jobs N] [-Only TEXT] [-List]: takes one rule of order or judgement at a time out of the compiled engine and counts the
// seeds until the simulator complains. The last line is "N mutants, N noticed"; the exit code is 1 when one was not.
int seeds = Number("-Seeds", 600);
int jobs = Number("-Jobs", Environment.ProcessorCount);
string only = Text("-Only", "");
using ModuleDefinition engine = ModuleDefinition.ReadModule(MutantRun.Engine);
Mutant[] mutants = [.. MutantFinder.FindAll(engine).Where(mutant => mutant.Name.Contains(only, StringComparison.OrdinalIgnoreCase))];
if (args.Contains("-List"))
{
    Array.ForEach(mutants, mutant => Console.WriteLine($"{mutant.Kind} {mutant.Name}"));
    return 0;
}

MutantResult[] results = new MutantResult[mutants.Length];
await Parallel.ForAsync(0, mutants.Length, new ParallelOptions { MaxDegreeOfParallelism = jobs }, async (i, _) =>
{
    results[i] = await MutantRun.RunAsync(mutants[i], seeds, TimeSpan.FromSeconds(60 + (4 * seeds)));
    lock (results)
    {
        Console.WriteLine(results[i].IsNoticed
            ? $"noticed after {results[i].Seeds} seeds: {mutants[i].Kind} {mutants[i].Name}: {results[i].How}"
            : $"NOT NOTICED within {seeds} seeds: {mutants[i].Kind} {mutants[i].Name}");
    }
});

int noticed = results.Count(result => result.IsNoticed);
Console.WriteLine($"{mutants.Length} mutants, {noticed} noticed");
return noticed == mutants.Length ? 0 : 1;

int Number(string name, int otherwise) => int.Parse(Text(name, otherwise.ToString(CultureInfo.InvariantCulture)), CultureInfo.InvariantCulture);

string Text(string name, string otherwise)
{
    int at = Array.FindIndex(args, arg => string.Equals(arg, name, StringComparison.OrdinalIgnoreCase));
    return at >= 0 && at + 1 < args.Length ? args[at + 1] : otherwise;
}
