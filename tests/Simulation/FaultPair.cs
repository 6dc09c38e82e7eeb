using System.Globalization;

namespace TierSpaces.Simulation;

// Every fault of the table meets every way to stop, every absence of disks and every work that recovery may meet. A pair is any two values of the lists.

/// <summary>Damage that is planted.</summary>
public enum PlantedFault
{
    /// <summary>A bit of a block that was written.</summary>
    Bit,

    /// <summary>All bytes of a block that was written.</summary>
    Block,

    /// <summary>A sector of a checksum page.</summary>
    PageSector,

    /// <summary>A block of the integrity log.</summary>
    LogBlock,

    /// <summary>A block of the ring of a write cache.</summary>
    RingRecord,

    /// <summary>A version of a block from before it was overwritten: a lost write.</summary>
    Stale,

    /// <summary>A write that fails and leaves anything.</summary>
    FailedWrite,
}

/// <summary>Ways in which the world stops.</summary>
public enum WorldStop
{
    /// <summary>The process dies.</summary>
    Kill,

    /// <summary>All disks go, the process goes on, and opens again what comes back.</summary>
    Reopening,

    /// <summary>The disks lose their power, and the machine does not.</summary>
    LostCaches,

    /// <summary>The machine loses its power.</summary>
    PowerCut,

    /// <summary>A stop in good order.</summary>
    Stop,
}

/// <summary>Which disks are away, and when.</summary>
public enum Absence
{
    /// <summary>None.</summary>
    None,

    /// <summary>One that holds the damaged block is away from the next start on.</summary>
    One,

    /// <summary>As many as there is redundancy are away since before the damage.</summary>
    UsedUp,

    /// <summary>One was away and is back before the damage, in part not made whole yet.</summary>
    BackBefore,

    /// <summary>One is away at the next start and comes back while the world serves.</summary>
    BackAfter,
}

/// <summary>Work that is under way when the world stops.</summary>
public enum Meanwhile
{
    /// <summary>Nothing.</summary>
    Idle,

    /// <summary>A write to the block beside the damaged one.</summary>
    WriteNear,

    /// <summary>Slabs move to other disks.</summary>
    Move,

    /// <summary>The slabs of a disk that is away are rebuilt elsewhere.</summary>
    Rebuild,

    /// <summary>A disk that was away is made whole.</summary>
    Resync,

    /// <summary>A write cache is emptied.</summary>
    Destage,
}

/// <summary>A fault, and what it meets.</summary>
public readonly record struct FaultPair(PlantedFault Fault, WorldStop Stop, Absence Away, Meanwhile Work)
{
    private static readonly SortedDictionary<string, int> s_met = [];
    private static readonly HashSet<(SpaceScenario Scenario, string Layout)> s_layouts = [];

    /// <summary>Chooses a combination that the layout can have. Turn by turn each value of a list comes as often as the others of it.</summary>
    public static FaultPair Choose(SpaceScenario scenario, Random random, ulong turn)
    {
        FaultPair pair = new((PlantedFault)(turn % 7), (WorldStop)(turn % 5), (Absence)(((turn / 5) + turn) % 5), (Meanwhile)(turn % 6));
        while (pair.WhyImpossible(scenario).Length > 0)
        {
            PlantedFault fault = scenario.CacheBlocks == 0 && pair.Fault == PlantedFault.RingRecord ? (PlantedFault)random.Next(7) : pair.Fault;
            pair = random.Next(2) == 0 ? pair with { Fault = fault, Away = (Absence)random.Next(5) }
                : pair with { Fault = fault, Work = (Meanwhile)random.Next(6) };
        }

        return pair;
    }

    /// <summary>Chooses a combination that chance meets rarely: a log, a page or a line of parity is left with one proof of a block.</summary>
    public static FaultPair ChooseRare(SpaceScenario scenario, Random random)
    {
        WorldStop stop = random.Next(2) == 0 ? WorldStop.Kill : WorldStop.Reopening;
        FaultPair pair = random.Next(scenario.Parities > 0 ? 3 : 2) switch
        {
            0 => new(PlantedFault.LogBlock, stop, random.Next(3) > 0 ? Absence.UsedUp : Absence.BackAfter, Meanwhile.Idle),
            1 => new(PlantedFault.PageSector, stop, Absence.BackAfter, random.Next(2) == 0 ? Meanwhile.Idle : Meanwhile.Move),
            _ => new(random.Next(2) == 0 ? PlantedFault.Block : PlantedFault.Stale, stop, Absence.UsedUp, Meanwhile.Rebuild),
        };
        return pair.WhyImpossible(scenario).Length == 0 ? pair : Choose(scenario, random, (ulong)random.Next());
    }

    /// <summary>Records that the pairs of a combination, with its layout, have met.</summary>
    public void NoteMet(SpaceScenario scenario, string layout)
    {
        lock (s_met)
        {
            s_layouts.Add((scenario, layout));
            foreach (string pair in PairsWith(layout))
            {
                s_met[pair] = s_met.GetValueOrDefault(pair) + 1;
            }
        }
    }

    /// <summary>
    /// Lines: how many pairs the layouts that were met can have, how many of them met and how often at least; the pairs that met less than
    /// <paramref name="least"/> times; the impossible ones with the reason.
    /// </summary>
    public static List<string> Report(int least)
    {
        SortedDictionary<string, string> reasons = [];   // by pair: empty where a combination that is possible has it
        lock (s_met)
        {
            foreach ((SpaceScenario scenario, string layout) in s_layouts)
            {
                foreach (FaultPair combination in All())
                {
                    string reason = combination.WhyImpossible(scenario);
                    foreach (string pair in combination.PairsWith(layout))
                    {
                        reasons[pair] = reason.Length == 0 ? "" : reasons.GetValueOrDefault(pair, reason);
                    }
                }
            }

            List<(string Pair, int Times)> possible =
            [
                .. reasons.Where(static pair => pair.Value.Length == 0).Select(static pair => (pair.Key, s_met.GetValueOrDefault(pair.Key)))
                    .OrderBy(static pair => pair.Item2),
            ];
            (string rarest, int times) = possible.FirstOrDefault();
            return
            [
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"fault pairs: {possible.Count} possible, {possible.Count(pair => pair.Times >= least)} met {least} times or more, the rarest {times} times ({rarest})"),
                .. possible.Where(pair => pair.Times < least).Select(static pair => $"rare fault pair: {pair.Pair}: {pair.Times}"),
                .. reasons.Where(static pair => pair.Value.Length > 0).Select(static pair => $"impossible fault pair: {pair.Key}: {pair.Value}"),
            ];
        }
    }

    private static IEnumerable<FaultPair> All() =>
        from fault in Enum.GetValues<PlantedFault>()
        from stop in Enum.GetValues<WorldStop>()
        from away in Enum.GetValues<Absence>()
        from work in Enum.GetValues<Meanwhile>()
        select new FaultPair(fault, stop, away, work);

    private IEnumerable<string> PairsWith(string layout)
    {
        string[] values = [layout, $"{Fault}", $"{Stop}", $"away {Away}", $"meanwhile {Work}"];
        for (int first = 0; first < values.Length; first++)
        {
            for (int second = first + 1; second < values.Length; second++)
            {
                yield return $"{values[first]} × {values[second]}";
            }
        }
    }

    /// <summary>Reason why a layout cannot have the combination; empty: it can.</summary>
    public string WhyImpossible(SpaceScenario scenario) =>
        scenario.CacheBlocks == 0 && (Fault == PlantedFault.RingRecord || Work == Meanwhile.Destage) ? "there is no write cache"
        : scenario.Redundancy == 0 && Work is (Meanwhile.Rebuild or Meanwhile.Resync) ? "without redundancy nothing is rebuilt"
        : scenario.Redundancy == 0 && Away is (Absence.UsedUp or Absence.BackBefore) ? "without redundancy nothing is written while a disk is away"
        : Work == Meanwhile.Rebuild && Away is (Absence.None or Absence.BackBefore) ? "no disk is away"
        : Work == Meanwhile.Resync && Away is (Absence.None or Absence.One) ? "no disk comes back"
        : "";
}
