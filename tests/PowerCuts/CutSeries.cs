using System.Diagnostics;
using System.Globalization;
using TierSpaces.Engine.Verification;

namespace TierSpaces.PowerCuts;

/// <summary>Outcome of a series of power cuts.</summary>
/// <param name="Cuts">Power cuts, all that were asked for unless there is a violation.</param>
/// <param name="CutsInRecovery">Of these, cuts before the machine had verified the one before.</param>
/// <param name="Pending">Writes that no flush had covered, over all cuts.</param>
/// <param name="Sectors">Sectors of devices compared.</param>
/// <param name="Files">Files compared.</param>
/// <param name="Survived">Sectors that held a write that no flush had covered.</param>
/// <param name="Flushes">Flushes of devices, and steps of file systems, that were acknowledged before a cut and held after it.</param>
/// <param name="Violation">The broken promise; null: none.</param>
internal sealed record CutResult(int Cuts, int CutsInRecovery, long Pending, long Sectors, long Files, long Survived, long Flushes, string? Violation)
{
    /// <inheritdoc/>
    public override string ToString() =>
        $"{Cuts} cuts, {CutsInRecovery} of them in recovery, {Pending} writes pending, {Flushes} flushes, {Sectors} sectors and {Files} files compared, "
        + $"{Survived} sectors survived without a flush, {Violation ?? "0 violations"}";
}

/// <summary>
/// Power cuts of one machine, one after another. A seed decides the layouts, the loads, how virtual disks are attached, at which request of the disks
/// the power fails, and what they keep of what no flush had covered. Not decided are the order and times of requests, which are those of a real kernel.
/// </summary>
internal sealed class CutSeries : IDisposable
{
    private static readonly TimeSpan s_startLimit = TimeSpan.FromMinutes(12);
    private static readonly TimeSpan s_loadLimit = TimeSpan.FromSeconds(20);

    private readonly ulong _seed;
    private readonly Random _random;
    private readonly Action<string> _say;
    private readonly DiskServer _server;
    private readonly RunFolder _folder;
    private CutResult _result = new(0, 0, 0, 0, 0, 0, 0, null);
    private long _recoveryChanges = 400;   // of the disks, from the start to the verification: of the last start that came so far
    private SimMedia[] _before = [];

    internal CutSeries(ulong seed, Action<string> say)
    {
        (_seed, _say, _random) = (seed, say, new Random(WritePlan.Mix(seed, -1, 0)));
        _folder = new RunFolder(Directory.CreateTempSubdirectory("tspc").FullName);
        Directory.CreateDirectory(_folder["machine"]);
        File.WriteAllText(_folder["seed"], seed.ToString(CultureInfo.InvariantCulture));
        File.WriteAllText(_folder["away"], new Layout(seed).Away.ToString(CultureInfo.InvariantCulture));
        Machine.WriteEnvironment(_folder);
        _server = new DiskServer(_folder["disks"], Layout.Members);
    }

    /// <summary>A planted fault: from the load on the disks acknowledge flushes and carry none out. The series has to notice.</summary>
    internal bool FlushesLie { get; init; }

    /// <summary>Where what a violation was found on is kept; null: nowhere.</summary>
    internal string? KeepIn { get; init; }

    /// <summary>Cuts the power so often, verifies after the last cut as well, and stops the machine in good order.</summary>
    internal CutResult Run(int cuts)
    {
        _say($"seed {_seed}: {new Layout(_seed)}");
        for (int boot = 0; boot <= cuts && _result.Violation is null; boot++)
        {
            bool isLast = boot == cuts;
            bool isEarly = boot > 0 && !isLast && _random.Next(5) == 0;
            SetFlag("thorough", isLast || _random.Next(4) == 0);
            SetFlag("last", isLast);
            Stopwatch watch = Stopwatch.StartNew();
            string told = Boot(boot, isEarly, isLast);
            _say($"seed {_seed}, start {boot}: {told}, {watch.Elapsed.TotalSeconds:F1} s");
        }

        return _result;
    }

    public void Dispose()
    {
        _server.Dispose();
        Directory.Delete(_folder.Path, recursive: true);
    }

    private string Boot(int boot, bool isEarly, bool isLast)
    {
        _before = _server.Snapshot();
        bool isFuse = _random.Next(2) == 0;
        long early = isEarly ? 1 + _random.NextInt64(_recoveryChanges) : long.MaxValue;
        long late = 1 + (long)Math.Pow(50_000, 0.5 + (0.5 * _random.NextDouble()));   // 224 to 50,000, as many of each length
        int rule = _random.Next(8);
        int ruleSeed = _random.Next();
        _server.OnLane(() =>
        {
            _server.Power.TurnOn();
            if (isEarly)
            {
                _server.Power.FailAfter(early);
            }

            return 0;
        });
        string told;
        using (Machine machine = new(_folder, boot, _server.Files, isFuse))
        {
            told = Watch(machine, late, isLast);
            _server.OnLane(() =>
            {
                _server.Power.Fail();
                return 0;
            });
            SendKill(machine);
        }

        if (_folder.FirstViolation() is { } violation)
        {
            _result = _result with { Violation = $"seed {_seed}, start {boot}, by {(isFuse ? "FUSE" : "nbd")}: {violation}" };
            Keep();
            return $"VIOLATION: {_result.Violation}";
        }

        bool isVerified = told.StartsWith("verified", StringComparison.Ordinal);
        CountVerified(boot, isVerified);
        if (isLast)
        {
            return $"{told}, stopped";
        }

        int[] pending = _server.Cut(pending => Rule(rule, new Random(ruleSeed), pending));
        _result = _result with
        {
            Cuts = _result.Cuts + 1, CutsInRecovery = _result.CutsInRecovery + (isVerified ? 0 : 1), Pending = _result.Pending + pending.Sum(),
        };
        return $"{(isFuse ? "FUSE" : "nbd")}, {told}, cut after {_server.Power.Changes} changes, {pending.Sum()} writes pending, rule {rule}";
    }

    /// <summary>Waits until the power is cut: at the request chosen before, or after so many changes of the disks under load.</summary>
    private string Watch(Machine machine, long changes, bool isLast)
    {
        string told = "recovering";
        bool isUnderLoad = false;
        for (Stopwatch watch = Stopwatch.StartNew(); ; )
        {
            bool isCut = _server.Power.WaitForCut(TimeSpan.FromMilliseconds(10));
            string[] lines = _folder.Progress();
            told = lines.FirstOrDefault(static line => line.StartsWith("verified", StringComparison.Ordinal)) ?? lines.LastOrDefault() ?? told;
            if (isCut || _folder.FirstViolation() is not null || (isLast && HasSaid(lines, "done")))
            {
                return told;
            }

            if (!isUnderLoad && HasSaid(lines, "load"))
            {
                isUnderLoad = true;
                _recoveryChanges = _server.OnLane(() =>
                {
                    _server.Power.FailAfter(changes);
                    _server.Power.FlushesLie = FlushesLie;
                    return _server.Power.Changes;
                });
                watch.Restart();
            }

            if (isUnderLoad ? watch.Elapsed > s_loadLimit : watch.Elapsed > s_startLimit || machine.HasEnded)
            {
                if (!isUnderLoad)
                {
                    string late = $"the machine has not come up in {s_startLimit.TotalMinutes} minutes; it said {told}";
                    _folder.SayViolation(machine.HasEnded ? "the machine has ended" : late);
                }

                return told;
            }
        }
    }

    private static bool HasSaid(string[] lines, string what) => Array.Exists(lines, line => line.StartsWith(what, StringComparison.Ordinal));

    /// <summary>The machine ends; meanwhile requests are released that it waits for, which they make impossible to kill.</summary>
    private void SendKill(Machine machine)
    {
        Thread killer = new(machine.Kill);
        killer.Start();
        while (!killer.Join(TimeSpan.FromMilliseconds(20)))
        {
            _server.OnLane(() =>
            {
                _server.Power.Release();
                return 0;
            });
        }
    }

    private void CountVerified(int boot, bool isVerified)
    {
        if (!isVerified)
        {
            return;
        }

        string verified = _folder.Progress().First(static line => line.StartsWith("verified ", StringComparison.Ordinal));
        long[] counts = [.. verified["verified ".Length..].Split(' ').Take(3)
            .Select(static text => long.Parse(text, CultureInfo.InvariantCulture))];
        int loaded = Enumerable.Range(0, boot).LastOrDefault(earlier => File.Exists(_folder.Report(earlier)), -1);
        long flushes = loaded < 0 ? 0 : Enumerable.Range(0, 6).Sum(writer => FlushReport.Read(_folder.Report(loaded), writer));
        _result = _result with
        {
            Sectors = _result.Sectors + counts[0], Files = _result.Files + counts[1],
            Survived = _result.Survived + counts[2], Flushes = _result.Flushes + flushes,
        };
    }

    private static Func<int, int, int, bool> Rule(int rule, Random random, int[] pending) => rule switch
    {
        0 => KeptWrites.None,
        1 => KeptWrites.All,
        2 => pending.Sum() > 0 ? KeptWrites.OnlyOne(random.Next(pending.Sum()), pending) : KeptWrites.None,
        3 => pending.Sum() > 0 ? KeptWrites.AllButOne(random.Next(pending.Sum()), pending) : KeptWrites.None,
        4 => KeptWrites.Prefixes(random, pending),
        _ => KeptWrites.Random(random),
    };

    private void SetFlag(string name, bool isSet)
    {
        File.Delete(_folder[name]);
        if (isSet)
        {
            File.WriteAllText(_folder[name], "");
        }
    }

    /// <summary>Keeps the disks as the start found them, and what the machine and its runner have written.</summary>
    private void Keep()
    {
        if (KeepIn is null)
        {
            return;
        }

        Directory.CreateDirectory(KeepIn);
        byte[] piece = new byte[1 << 20];
        foreach (SimMedia media in _before)
        {
            using FileStream image = new(Path.Combine(KeepIn, media.Key + ".img"), FileMode.Create);
            image.SetLength(media.Length);
            for (long at = 0; at < media.Length; at += piece.Length)
            {
                media.Read(at, piece);
                if (piece.AsSpan().ContainsAnyExcept((byte)0))
                {
                    image.Position = at;
                    image.Write(piece);
                }
            }
        }

        foreach (string file in Directory.GetFiles(_folder.Path))
        {
            File.Copy(file, Path.Combine(KeepIn, Path.GetFileName(file)), overwrite: true);
        }

        foreach (string file in Directory.GetDirectories(_folder.Path, "base-*").SelectMany(Directory.GetFiles))
        {
            File.Copy(file, Path.Combine(KeepIn, $"{Path.GetFileName(Path.GetDirectoryName(file))}-{Path.GetFileName(file)}"), overwrite: true);
        }

        _say($"The disks as the start found them, and all that was recorded, are in {KeepIn}.");
    }
}
