using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Levels of fault domains that a virtual disk or a tier of it is to keep to.</summary>
/// <param name="Awareness">Level of the domains that hold the copies.</param>
/// <param name="Isolation">Level of the domains that no two columns share.</param>
/// <param name="Cause">The parameter that asks for them, for validation errors.</param>
internal readonly record struct DomainLevels(FaultDomainLevel Awareness, FaultDomainLevel Isolation, string Cause)
{
    /// <summary>Whether each disk is a domain of its own.</summary>
    internal bool IsByDisk => Awareness == FaultDomainLevel.PhysicalDisk && Isolation == FaultDomainLevel.PhysicalDisk;
}

// Fault domains of a new virtual disk. They come from the request, else from the template of a tier, else from the pool. A layout
// without redundancy has nothing to keep apart: a request for that is a validation error, a default is passed over.

/// <summary>Decides which fault domains a virtual disk keeps to, and refuses what the domains of its disks do not allow. Changes nothing.</summary>
/// <param name="pool">The pool.</param>
/// <param name="request">Request for the virtual disk.</param>
internal sealed class FaultDomainPlan(IPoolReader pool, VirtualDiskRequest request)
{
    /// <summary>Returns the levels for a virtual disk without tiers.</summary>
    /// <param name="layout">Its layout.</param>
    /// <param name="isRedundant">Whether it survives the loss of a disk.</param>
    internal DomainLevels Decide(string layout, bool isRedundant) => Decide(layout, isRedundant, null, FaultDomainLevel.PhysicalDisk);

    /// <summary>Returns the levels for a tier that is made of a template.</summary>
    /// <param name="layout">Its layout.</param>
    /// <param name="isRedundant">Whether it survives the loss of a disk.</param>
    /// <param name="template">The template.</param>
    /// <param name="others">Level that the tiers beside it keep to; that of the disk leaves it to the pool.</param>
    internal DomainLevels Decide(string layout, bool isRedundant, TierTemplate? template, FaultDomainLevel others)
    {
        FaultDomainLevel isolation = request.ColumnIsolation ?? template?.ColumnIsolation ?? FaultDomainLevel.PhysicalDisk;
        FaultDomainLevel? asked = request.FaultDomainAwareness
            ?? (template?.FaultDomainAwareness is > FaultDomainLevel.PhysicalDisk and var own ? own : null);
        if (!isRedundant && asked > FaultDomainLevel.PhysicalDisk)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter,
                $"-FaultDomainAwareness {asked}: {layout} has one copy of each block, and nothing to keep in different fault domains. Valid with {layout}: PhysicalDisk.",
                "Choose Mirror, or leave the parameter out.");
        }

        FaultDomainLevel open = others > FaultDomainLevel.PhysicalDisk ? others : Default(pool.State.Pool!);
        FaultDomainLevel awareness = asked ?? (isRedundant ? open : FaultDomainLevel.PhysicalDisk);
        string cause = asked is not null || awareness == others
            ? $"-FaultDomainAwareness {awareness}" : $"-FaultDomainAwarenessDefault {awareness} of storage pool '{pool.State.Pool!.FriendlyName}'";
        return new DomainLevels(
            awareness, isolation, awareness > FaultDomainLevel.PhysicalDisk ? cause : $"-ColumnIsolation {isolation}");
    }

    /// <summary>Returns the level that a virtual disk of this pool keeps to if it names none.</summary>
    internal static FaultDomainLevel Default(PoolDescription pool) =>
        pool.EnclosureAwareDefault && pool.FaultDomainAwarenessDefault == FaultDomainLevel.PhysicalDisk
            ? FaultDomainLevel.StorageEnclosure : pool.FaultDomainAwarenessDefault;

    /// <summary>Returns the most columns, up to <paramref name="most"/>, that a layout on these disks can have; 0: it cannot be.</summary>
    internal int MostColumns(DomainLevels levels, int copies, DiskNumber[] disks, int most, int parities = 0) =>
        levels.IsByDisk ? most : (int)RowRule.Largest(most, columns => Fits(levels, (int)columns, copies, disks, parities));

    /// <summary>Refuses a layout whose rows these disks cannot hold.</summary>
    /// <param name="levels">Its fault domains.</param>
    /// <param name="layout">Its layout.</param>
    /// <param name="columns">Columns that are asked for; null: automatic.</param>
    /// <param name="copies">Copies of the data.</param>
    /// <param name="disks">Disks that it may lie on.</param>
    /// <param name="parities">Columns of parity; then a domain holds at most so many columns.</param>
    internal void Require(DomainLevels levels, string layout, int? columns, int copies, DiskNumber[] disks, int parities = 0)
    {
        if (levels.IsByDisk || Fits(levels, columns ?? 1, copies, disks, parities))
        {
            return;
        }

        bool isMoreThanOneColumn = columns > 1;
        int needed = levels.Isolation > levels.Awareness ? (columns ?? 1) * copies
            : parities > 0 ? ((columns ?? 1) + parities - 1) / parities : copies;
        FaultDomainLevel level = levels.Isolation > levels.Awareness ? levels.Isolation : levels.Awareness;
        int found = DomainsOf(disks, level).Length;
        string shape = parities > 0 ? $"{layout} with {CountText.Of(columns ?? 1, "column")} that survives {(parities == 1 ? "1 disk" : $"{parities} disks")}"
            : $"{layout} with {(copies == 1 ? "1 copy" : $"{copies} copies")}{(isMoreThanOneColumn ? $" and {CountText.Of(columns ?? 1, "column")}" : "")}";
        if (found < needed)
        {
            throw new ManagementException(
                ManagementError.NotEnoughPhysicalDisks,
                $"{levels.Cause}: {shape} needs physical disks in {needed} fault domains of type {level}; those that can be used are in {found}.",
                $"Add disks in {needed - found} more, or say where the disks are ({ParameterOf(level)}).");
        }

        int most = MostColumns(levels, copies, disks, LayoutRequest.ColumnsMax, parities);
        throw new ManagementException(
            isMoreThanOneColumn ? ManagementError.ColumnsRange : ManagementError.NotEnoughPhysicalDisks,
            $"{levels.Cause}: {shape} needs {(columns ?? 1) * copies} physical disks of which no fault domain holds {(parities > 0 ? $"more than {parities}" : "two copies of a column")}; "
            + $"the disks that can be used are in {found} fault domains of type {level}, which allow {CountText.Of(most, "column")}.",
            most > 0 ? $"Give at most {CountText.Of(most, "column")}, or add disks where the fewest are." : "Add disks where the fewest are.");
    }

    /// <summary>Returns what the loss of one fault domain means to the metadata of the pool; empty if nothing.</summary>
    /// <param name="name">Name of the virtual disk.</param>
    /// <param name="level">Level of the fault domains that it keeps to.</param>
    internal string WarningOfVotes(string name, FaultDomainLevel level)
    {
        if (level == FaultDomainLevel.PhysicalDisk)
        {
            return "";
        }

        VoteSet votes = pool.View.Votes;
        string poolName = pool.State.Pool!.FriendlyName;
        string[] domains = [.. votes.Disks.Select(DomainOf).Distinct()];
        string[] fatal = [.. domains.Where(domain => !votes.IsMajority(disk => DomainOf(disk) != domain, true)).Select(FaultDomains.NameOf)];
        bool restsOnWitness = Array.Exists(domains, domain => !votes.IsMajority(disk => DomainOf(disk) != domain, false));
        return fatal.Length > 0
            ? $"Virtual disk '{name}' keeps its copies in different fault domains ({level}), but storage pool '{poolName}' does not survive the loss of "
                + $"{string.Join(" or ", fatal)}: half of its {votes.Total} votes or more are those of disks there. Add disks in other fault domains."
            : restsOnWitness
                ? $"Virtual disk '{name}' survives the loss of one fault domain ({level}) as long as the witness of this host is there: half of the votes "
                    + $"of storage pool '{poolName}' are those of disks in one, and another host cannot open the other half. Disks in a third fault domain need no witness."
                : "";

        string DomainOf(DiskNumber disk) => FaultDomains.DomainOf(pool.State.Disks[disk].Description, level);
    }

    private static string ParameterOf(FaultDomainLevel level) => level switch
    {
        FaultDomainLevel.StorageEnclosure => "Set-PhysicalDisk -EnclosureNumber",
        FaultDomainLevel.StorageScaleUnit => "Set-PhysicalDisk -StorageScaleUnitId",
        FaultDomainLevel.StorageChassis => "Set-PhysicalDisk -StorageChassisId",
        _ => "Set-PhysicalDisk -StorageRackId",
    };

    private bool Fits(DomainLevels levels, int columns, int copies, DiskNumber[] disks, int positionsPerDomain)
    {
        AllocationPreferences preferences = new()
        {
            FaultDomainAwareness = levels.Awareness, ColumnIsolation = levels.Isolation, PositionsPerDomain = positionsPerDomain,
        };
        IEnumerable<DiskState> known = disks.Select(number => pool.State.Disk(number)!).Where(disk => RowRule.IsKnown(disk.Description, preferences));
        return new RowRule(columns, copies, preferences).Choose(known.Select(static disk => (disk, 1L)), out _).Length > 0;
    }

    private string[] DomainsOf(DiskNumber[] disks, FaultDomainLevel level) =>
        [.. disks.Select(number => FaultDomains.DomainOf(pool.State.Disk(number)!.Description, level)).Where(static name => name.Length > 0).Distinct()];
}
