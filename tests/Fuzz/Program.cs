using System.Diagnostics;
using System.Globalization;
using TierSpaces.Fuzz;

// TierSpaces.Fuzz [-Executions N] [-Seed S] [-Only TEXT] [-Input BASE64] [-Answers]
// One line per target, then "N executions, N crashes, N hangs, N over the allocation bound". The exit code is 1 when any but the first
// is above 0. Nothing an input does reaches the machine: disks, files, sockets and time are all in memory, but for a folder in /tmp.

const long defaultExecutions = 300_000;

long executions = Number("-Executions", defaultExecutions);
int seed = (int)Number("-Seed", 1);
string only = Text("-Only");
string replay = Text("-Input");
using TargetList list = new();
FuzzTarget[] targets = [.. list.All.Where(target => target.Name.Contains(only, StringComparison.OrdinalIgnoreCase))];
if (targets.Length == 0)
{
    Console.Error.WriteLine($"-Only {only}: no target has that in its name. There are {string.Join(", ", list.All.Select(target => target.Name))}.");
    return 2;
}

Console.SetError(TextWriter.Null);   // what the host logs of each input
long total = 0;
int crashes = 0, over = 0;
FuzzTarget current = targets[0];
Watchdog watchdog = new(input =>
{
    Console.WriteLine($"{current.Name} (seed {seed}): hangs\n{Fuzzer.Replay(current, input)}");
    Console.WriteLine($"{total} executions, {crashes} crashes, 1 hangs, {over} over the allocation bound");
});
long weights = targets.Sum(target => target.Weight);
foreach (FuzzTarget target in targets)
{
    current = target;
    Stopwatch watch = Stopwatch.StartNew();
    Fuzzer fuzzer = new(target, seed, watchdog);
    if (replay.Length > 0)
    {
        fuzzer.Play(Convert.FromBase64String(replay));
    }
    else
    {
        foreach (byte[] input in Regressions.Of(target))
        {
            fuzzer.Play(input);
        }

        fuzzer.Run(executions * target.Weight / weights);
    }

    if (args.Contains("-Answers", StringComparer.OrdinalIgnoreCase))
    {
        fuzzer.Answers.Order(StringComparer.Ordinal).ToList().ForEach(answer => Console.WriteLine($"  {answer}"));
    }

    total += fuzzer.Executions;
    crashes += fuzzer.Crashes;
    over += fuzzer.OverBound;
    Console.WriteLine($"{target.Name}: {fuzzer.Executions} executions, {fuzzer.Crashes} crashes, {fuzzer.OverBound} over the bound, "
        + $"{fuzzer.Answers.Count} answers, {fuzzer.Seeds} seeds, at most {fuzzer.MostAllocated >> 10} KiB, {watch.Elapsed.TotalSeconds:F1} s");
}

Console.WriteLine($"{total} executions, {crashes} crashes, 0 hangs, {over} over the allocation bound");
return crashes + over == 0 ? 0 : 1;

string Text(string name)
{
    int at = Array.FindIndex(args, arg => string.Equals(arg, name, StringComparison.OrdinalIgnoreCase));
    return at >= 0 && at + 1 < args.Length ? args[at + 1] : "";
}

long Number(string name, long otherwise) =>
    Text(name) is { Length: > 0 } text ? long.Parse(text, NumberStyles.AllowThousands, CultureInfo.InvariantCulture) : otherwise;
