using System.Diagnostics;
using System.Globalization;
using TierSpaces.PowerCuts;

// -Cuts N [-Seeds M] [-Seed S] [-Keep FOLDER] [-Results FILE] [-FlushLies]: M series of N power cuts, from seed S on. Each line of FILE is the result of a
// series; a seed that it has already is not run again. -Keep keeps the disks of a violation, -FlushLies plants a fault that has to be found.
// -InMachine FOLDER BOOT is what a machine runs. Anything else is for the runner of the tests.
if (args is ["-InMachine", var folder, var boot])
{
    return MachineProgram.Run(folder, boot);
}

if (!args.Contains("-Cuts"))
{
    return Xunit.Runner.InProc.SystemConsole.ConsoleRunner.Run(args).GetAwaiter().GetResult();
}

if (Machine.WhyNot() is { } reason)
{
    Console.Error.WriteLine(reason);
    return 2;
}

int cuts = Argument("-Cuts", 20);
int seeds = Argument("-Seeds", 1);
int first = Argument("-Seed", 1);
string? results = Text("-Results");
string done = results is not null && File.Exists(results) ? File.ReadAllText(results) : "";
int violations = 0;
for (int seed = first; seed < first + seeds; seed++)
{
    if (done.Contains($"seed {seed}: ", StringComparison.Ordinal))
    {
        continue;
    }

    Stopwatch watch = Stopwatch.StartNew();
    using CutSeries series = new((ulong)seed, Console.WriteLine)
    {
        KeepIn = Text("-Keep") is { } keep ? Path.Combine(keep, $"seed-{seed}") : null, FlushesLie = args.Contains("-FlushLies"),
    };
    CutResult result = series.Run(cuts);
    string line = string.Create(CultureInfo.InvariantCulture, $"seed {seed}: {result}, {watch.Elapsed.TotalSeconds:F0} s");
    violations += result.Violation is null ? 0 : 1;
    Console.WriteLine(line);
    if (results is not null)
    {
        File.AppendAllText(results, line + "\n");
    }
}

return violations == 0 ? 0 : 1;

string? Text(string name)
{
    int at = Array.FindIndex(args, arg => string.Equals(arg, name, StringComparison.OrdinalIgnoreCase));
    return at >= 0 && at + 1 < args.Length ? args[at + 1] : null;
}

int Argument(string name, int otherwise) => Text(name) is { } text ? int.Parse(text, CultureInfo.InvariantCulture) : otherwise;
