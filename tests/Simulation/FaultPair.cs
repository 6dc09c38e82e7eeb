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

    /// <summary>Chooses a combination that the layout can have.</summary>
    public static FaultPair Choose(SpaceScenario scenario, Random random)
    {
        while (true)
        {
            FaultPair pair = new((PlantedFault)random.Next(7), (WorldStop)random.Next(5), (Absence)random.Next(5), (Meanwhile)random.Next(6));
            if (pair.WhyImpossible(scenario).Length == 0)
            {
                return pair;
            }
        }
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
        return pair.WhyImpossible(scenario).Length == 0 ? pair : Choose(scenario, random);
    }

    /// <summary>Records that the pairs of a combination, with its layout, have met.</summary>
    public void NoteMet(string layout)
    {
        string[] values = [layout, $"{Fault}", $"{Stop}", $"away {Away}", $"meanwhile {Work}"];
        lock (s_met)
        {
            for (int first = 0; first < values.Length; first++)
            {
                for (int second = first + 1; second < values.Length; second++)
                {
                    string key = $"{values[first]} × {values[second]}";
                    s_met[key] = s_met.GetValueOrDefault(key) + 1;
                }
            }
        }
    }

    /// <summary>Number of different pairs that have met, the least number of times that one has, and its name.</summary>
    public static string Summary()
    {
        lock (s_met)
        {
            KeyValuePair<string, int> rarest = s_met.OrderBy(static met => met.Value).FirstOrDefault();
            return string.Create(CultureInfo.InvariantCulture, $"fault pairs: {s_met.Count} met, the rarest {rarest.Value} times ({rarest.Key})");
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
