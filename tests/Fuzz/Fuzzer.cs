using System.Diagnostics;
using System.Text;

namespace TierSpaces.Fuzz;

/// <summary>
/// Plays inputs into one target and judges each: it answers, it ends, it allocates no more than its bound. An input with an answer not
/// heard before becomes a seed. The same target, seed and number of executions make the same inputs.
/// </summary>
internal sealed class Fuzzer
{
    private const int MostSeeds = 4096;
    private const int MostReports = 5;

    private readonly FuzzTarget _target;
    private readonly int _seed;
    private readonly HashSet<string> _answers = [];
    private readonly HashSet<string> _reported = [];
    private readonly Watchdog _watchdog;
    private readonly Mutator _mutator;

    internal Fuzzer(FuzzTarget target, int seed, Watchdog watchdog)
    {
        _target = target;
        _seed = seed;
        _watchdog = watchdog;
        _mutator = new Mutator(target, new Random(HashCode(target.Name) ^ (seed * 7919)));
    }

    /// <summary>Inputs played.</summary>
    internal long Executions { get; private set; }

    /// <summary>Inputs whose exception escaped, or whose answer was wrong.</summary>
    internal int Crashes { get; private set; }

    /// <summary>Inputs that allocated more than they may.</summary>
    internal int OverBound { get; private set; }

    /// <summary>Most bytes allocated by one input.</summary>
    internal long MostAllocated { get; private set; }

    /// <summary>Answers heard.</summary>
    internal IReadOnlyCollection<string> Answers => _answers;

    /// <summary>Seeds, valid and found ones.</summary>
    internal int Seeds => _mutator.SeedCount;

    /// <summary>Inputs to play for the whole run.</summary>
    internal void Run(long executions)
    {
        foreach (byte[] seed in _target.Seeds)
        {
            Play(seed);
        }

        for (long i = 0; i < executions; i++)
        {
            byte[] input = _mutator.Next(sweeps: i % 2 == 0);
            if (Play(input) && _mutator.SeedCount < MostSeeds)
            {
                _mutator.Keep(input);
            }
        }
    }

    /// <summary>Plays one input; true when it was answered with something new.</summary>
    internal bool Play(byte[] input)
    {
        Executions++;
        _watchdog.Begin(input);
        long before = GC.GetAllocatedBytesForCurrentThread();
        string answer;
        try
        {
            answer = _target.Run(input);
        }
        catch (Exception e)
        {
            Crashes++;
            Report($"{_target.Name}: {e.GetType().Name}", $"{e.Message}\n{Frames(e)}", input);
            return false;
        }
        finally
        {
            _watchdog.End();
        }

        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        MostAllocated = Math.Max(MostAllocated, allocated);
        long bound = _target.AllocationBase + ((long)_target.AllocationPerByte * input.Length);
        if (allocated > bound && OverTwice(input, bound))
        {
            OverBound++;
            Report($"{_target.Name}: allocates", $"{allocated} bytes for {input.Length} of input; the bound is {bound}", input);
        }

        return _answers.Add(WithoutNumbers(answer));
    }

    // An object that is made once (a table, a compiled pattern) is not the input's doing.
    private bool OverTwice(byte[] input, long bound)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        _target.Run(input);
        return GC.GetAllocatedBytesForCurrentThread() - before > bound;
    }

    private void Report(string what, string why, byte[] input)
    {
        string place = what + WithoutNumbers(why.Split('\n').ElementAtOrDefault(1) ?? "");
        if (_reported.Add(place) && _reported.Count <= MostReports)
        {
            Console.WriteLine($"{what} (seed {_seed}): {why}\n{Replay(_target, input)}");
        }
    }

    /// <summary>The input, and how to play it again.</summary>
    internal static string Replay(FuzzTarget target, byte[] input) =>
        $"  input: {Convert.ToBase64String(input)}\n  again: ./build.sh Fuzz -Only {target.Name} -Input {Convert.ToBase64String(input)}";

    private static string Frames(Exception e)
    {
        for (; e.InnerException is { } inner; e = inner)
        {
        }

        return string.Join('\n', new StackTrace(e).GetFrames().Take(6)
            .Select(frame => $"    at {frame.GetMethod()?.DeclaringType?.Name}.{frame.GetMethod()?.Name}"));
    }

    /// <summary>Words with a digit in them (numbers, identities) differ from input to input: they make no new answer.</summary>
    private static string WithoutNumbers(string answer)
    {
        StringBuilder text = new(answer.Length);
        int word = 0;
        bool isNumber = false;
        foreach (char c in answer.AsSpan(0, Math.Min(answer.Length, 400)))
        {
            if (!char.IsAsciiLetterOrDigit(c))
            {
                text.Length = isNumber ? word : text.Length;
                (word, isNumber) = (text.Length + 1, false);
            }

            isNumber |= char.IsAsciiDigit(c);
            text.Append(c);
        }

        text.Length = isNumber ? word : text.Length;
        return text.ToString();
    }

    private static int HashCode(string name) => name.Aggregate(17, static (hash, c) => unchecked((hash * 31) + c));
}
