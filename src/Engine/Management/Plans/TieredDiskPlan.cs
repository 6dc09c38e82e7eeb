using System.Numerics;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Request for a tier of a new virtual disk.</summary>
/// <param name="Template">Identity of the template that it is made of.</param>
/// <param name="SizeBytes">Size in bytes; rounded up to whole slices.</param>
public sealed record TierRequest(Guid Template, long SizeBytes);

// Turns templates into tiers. A value comes from the template, else from the request for the whole disk, else from the pool.
// A request that says otherwise than a template is refused, with both named. Automatic columns are one number for all tiers without parity that have them:
// as many as the one with the fewest disks for each copy allows; a tier that comes later has no more than those that are there agree on. A tier with
// parity has its own.

/// <summary>Decides the tiers of a new virtual disk, or one more tier of a disk. An impossible request is a validation error. Changes nothing.</summary>
/// <param name="pool">The pool.</param>
/// <param name="request">Request for the virtual disk.</param>
/// <param name="disksOf">Disks of a medium that the virtual disk may lie on.</param>
internal sealed class TieredDiskPlan(IPoolReader pool, VirtualDiskRequest request, Func<MediaType, DiskNumber[]> disksOf)
{
    internal const long SliceSizeDefault = 1 << 20;
    private const long SliceSizeMin = 256 << 10;
    private const long SliceSizeMax = 16 << 20;
    private const int DisksOfThreeWayMirror = 5;   // a majority stays when two of them fail

    private readonly FaultDomainPlan _domains = new(pool, request);

    /// <summary>The parameter that names the templates, for validation errors.</summary>
    internal string TierParameter { get; init; } = "StorageTiers";

    /// <summary>The parameter that has their sizes.</summary>
    internal string SizeParameter { get; init; } = "StorageTierSizes";

    /// <summary>Tiers that the virtual disk has already.</summary>
    internal IReadOnlyList<TierDescription> Existing { get; init; } = [];

    /// <summary>Takes remarks on the decisions, for the user.</summary>
    internal Action<string> Remark { get; init; } = static _ => { };

    private PoolState State => pool.State;

    private string PoolName => State.Pool!.FriendlyName;

    /// <summary>Bytes of a slice.</summary>
    internal long SliceSize()
    {
        long slice = request.SliceSize ?? SliceSizeDefault;
        long max = Math.Min(SliceSizeMax, pool.Slabs.DataBytes);
        return slice >= SliceSizeMin && slice <= max && BitOperations.IsPow2(slice) ? slice : throw new ManagementException(
            ManagementError.InvalidParameter,
            $"-SliceSize {ByteText.Exact(slice)} is not a power of two from {ByteText.Exact(SliceSizeMin)} to {ByteText.Exact(max)} (the slab of this pool has {ByteText.Exact(pool.Slabs.DataBytes)}).");
    }

    /// <summary>The templates that the request names.</summary>
    internal List<(TierTemplate Template, long SizeBytes)> Named() => [.. request.Tiers.Select(asked =>
        (State.TierTemplates.GetValueOrDefault(asked.Template) ?? throw new ManagementException(
            ManagementError.ObjectNotFound, $"-{TierParameter} names {asked.Template:B}, which is no template of storage pool '{PoolName}'.",
            "Look at Get-StorageTier."), asked.SizeBytes))];

    /// <summary>Returns the tiers, the fastest first.</summary>
    /// <param name="templates">Templates of the tiers, with the requested sizes.</param>
    internal List<TierDescription> Decide(IEnumerable<(TierTemplate Template, long SizeBytes)> templates)
    {
        if (request.MediaType is { } medium)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter, $"-MediaType {medium} contradicts -StorageTiers: each tier has the medium of its template.",
                "Leave -MediaType out.");
        }

        LayoutRequest.CheckColumns(request.NumberOfColumns, min: 1);
        List<Part> parts = [.. templates.Select(PartOf).OrderByDescending(static part => part.Template.MediaTypeCode)];
        RequireDifferentMedia(parts);
        parts.ForEach(RequireDisks);
        parts = parts.ConvertAll(part => part.Parities > 0 ? part with { Columns = ColumnsOfParity(part) } : part);
        RequireMajority(parts);
        Part[] automatic = [.. parts.Where(static part => part.Columns == 0)];
        int columns = automatic.Length == 0 ? 0 : Math.Min(automatic.Min(AutomaticColumns), ColumnsOfExisting());
        return [.. parts.Select(part => SpecOf(part, part.Columns > 0 ? part.Columns : columns))];
    }

    /// <summary>Returns the provisioning type: the one of the request, else of the templates, else of the pool.</summary>
    internal ProvisioningType Provisioning(IEnumerable<TierTemplate> templates)
    {
        TierTemplate[] saying = [.. templates.Where(static template => template.ProvisioningType is not null)];
        ProvisioningType decided = request.ProvisioningType ?? saying.FirstOrDefault()?.ProvisioningType ?? State.Pool!.ProvisioningTypeDefault;
        return saying.FirstOrDefault(template => template.ProvisioningType != decided) is not { } other ? decided : throw new ManagementException(
            ManagementError.InvalidParameter,
            $"A virtual disk is Thin or Fixed as a whole: storage tier '{other.FriendlyName}' is {other.ProvisioningType}, and {decided} is asked for.",
            "Change the template with Set-StorageTier -ProvisioningType.");
    }

    /// <summary>Refuses a disk that the pool has no room for, and names the tier that is too large: the others may have no room for its sake.</summary>
    internal void RequireRoom(VirtualDiskDescription spec)
    {
        (TierDescription Tier, long Most)[] tooLarge = spec.Tiers.Select((tier, i) => (Tier: tier, Most: RoomPlans.LargestNewTierSize(pool, spec, i)))
            .Where(static found => found.Tier.SizeBytes > found.Most).ToArray();
        if (tooLarge.Length == 0)
        {
            return;
        }

        (TierDescription tier, long most) = tooLarge.MaxBy(static found => found.Most);
        string cache = spec.WriteCacheSize > 0 ? $", beside a write cache of {ByteText.Exact(spec.WriteCacheSize)}" : "";
        bool isThin = spec.ProvisioningType == ProvisioningType.Thin;
        throw new ManagementException(
            ManagementError.NotEnoughCapacity,
            $"-StorageTierSizes: storage tier '{tier.FriendlyName}' of {ByteText.Exact(tier.SizeBytes)} is more than storage pool '{PoolName}' has room for: at most {ByteText.Exact(most)} on {tier.Media()} with {CountText.Of(tier.NumberOfColumns, "column")} and {LayoutText(tier)}{cache}."
            + (isThin ? $" {new MetadataRoom(pool).Describe()}" : ""),
            isThin ? "Give a smaller size, or remove virtual disks."
                : $"Give a smaller size, {(spec.WriteCacheSize > 0 ? "a smaller -WriteCacheSize (0: none), " : "")}or add disks.");
    }

    private Part PartOf((TierTemplate Template, long SizeBytes) asked)
    {
        TierTemplate template = asked.Template;
        if (template.MediaTypeCode == 0)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter, $"-{TierParameter}: storage tier '{template.FriendlyName}' does not say its medium.",
                "Set it with Set-StorageTier -MediaType.");
        }

        LayoutRequest layoutRequest = LayoutRequestOf(template);
        string layout = layoutRequest.DecideName(State);
        int copies = layoutRequest.DecideCopies(State, layout);
        int parities = layoutRequest.DecideParities(State, layout);
        LayoutRequest.RequireChecksums(layout, request.Checksum);
        long? interleave = Agreed(template, "Interleave", template.Interleave, request.Interleave, ByteText.Exact);
        long columns = Agreed(template, "NumberOfColumns", template.NumberOfColumns, request.NumberOfColumns, static count => $"{count}") ?? 0;
        FaultDomainLevel others = Existing.Select(static tier => tier.FaultDomainAwareness).DefaultIfEmpty(FaultDomainLevel.PhysicalDisk).Max();
        DomainLevels levels = _domains.Decide(layout, copies > 1 || parities > 0, template, others);
        return new Part(
            template, asked.SizeBytes, disksOf(template.Media()), layout, copies, parities,
            LayoutRequest.DecideInterleave(State, interleave, layout, parities), (int)columns, levels);
    }

    private LayoutRequest LayoutRequestOf(TierTemplate template)
    {
        LayoutRequest disk = new(request.ResiliencySettingName, request.NumberOfDataCopies, request.PhysicalDiskRedundancy);
        if (template.NumberOfDataCopies == 0)
        {
            return disk;
        }

        bool agrees = (disk.Name is null || string.Equals(disk.Name, template.ResiliencySettingName, StringComparison.OrdinalIgnoreCase))
            && (disk.Copies ?? template.NumberOfDataCopies) == template.NumberOfDataCopies
            && (disk.Redundancy ?? template.PhysicalDiskRedundancy) == template.PhysicalDiskRedundancy;
        LayoutRequest own = new(template.ResiliencySettingName, template.NumberOfDataCopies, template.PhysicalDiskRedundancy);
        return agrees ? own : throw new ManagementException(
            ManagementError.InvalidParameter, $"{disk} contradicts storage tier '{template.FriendlyName}', which is {LayoutText(template)}.",
            "Leave the layout out, or change the template with Set-StorageTier.");
    }

    private static long? Agreed(TierTemplate template, string parameter, long own, long? asked, Func<long, string> format) =>
        own == 0 || asked is null || asked == own ? (own > 0 ? own : asked) : throw new ManagementException(
            ManagementError.InvalidParameter, $"-{parameter} {format(asked.Value)} contradicts storage tier '{template.FriendlyName}', which has {format(own)}.",
            "Leave the parameter out, or change the template with Set-StorageTier.");

    private static void RequireDifferentMedia(List<Part> parts)
    {
        if (parts.GroupBy(static part => part.Template.MediaTypeCode).FirstOrDefault(static same => same.Count() > 1) is { } same)
        {
            string names = string.Join(" and ", same.Select(static part => $"'{part.Template.FriendlyName}'"));
            throw new ManagementException(
                ManagementError.InvalidParameter,
                $"-StorageTiers: {names} are both of medium {MediaCode.Of(same.Key)}. Slices move to faster media, so a virtual disk has one tier of each.",
                "Give one template of each medium. In place of a mirror tier before a parity tier on one medium, make a virtual disk without tiers: "
                + "-ResiliencySettingName Parity, whose write cache (-WriteCacheSize) gathers small writes.");
        }
    }

    private void RequireDisks(Part part)
    {
        if (part.Disks.Length == 0)
        {
            throw new ManagementException(
                ManagementError.NotEnoughPhysicalDisks,
                $"Storage tier '{part.Template.FriendlyName}' needs physical disks of medium {part.Medium}; storage pool '{PoolName}' has none that can be used.",
                $"Add such disks, or say what the disks are (Set-PhysicalDisk -MediaType {part.Medium}).");
        }

        if (part.Parities > 0)
        {
            return;   // as many as its columns
        }

        int needed = Math.Max(1, part.Columns) * part.Copies;
        if (part.Disks.Length < needed)
        {
            throw new ManagementException(
                part.Columns > 1 ? ManagementError.ColumnsRange : ManagementError.NotEnoughPhysicalDisks,
                $"Storage tier '{part.Template.FriendlyName}': {part.Layout} with {CopiesText(part.Copies)} and {CountText.Of(Math.Max(1, part.Columns), "column")} needs {CountText.Of(needed, "physical disk")} of medium {part.Medium}; {part.Disks.Length} can be used.",
                $"Add {DisksText(needed - part.Disks.Length)} of that kind, or ask for fewer columns or copies.");
        }

        int? columns = part.Columns > 0 ? part.Columns : null;
        _domains.Require(part.Levels, $"Storage tier '{part.Template.FriendlyName}': {part.Layout}", columns, part.Copies, part.Disks);
    }

    private void RequireMajority(List<Part> parts)
    {
        int disks = parts.Sum(static part => part.Disks.Length) + Existing.Sum(tier => disksOf(tier.Media()).Length);
        if (parts.Exists(static part => part is { Copies: 3, Columns: 0 }) && disks < DisksOfThreeWayMirror)
        {
            throw new ManagementException(
                ManagementError.NotEnoughPhysicalDisks,
                $"Mirror with 3 copies needs {DisksOfThreeWayMirror} physical disks; the tiers can use {disks}.",
                $"Add {DisksText(DisksOfThreeWayMirror - disks)}.");
        }
    }

    private int ColumnsOfParity(Part part) =>
        new ParityColumns(State, _domains, request.AutoNumberOfColumns && part.Columns == 0, Remark)
        {
            Owner = $"Storage tier '{part.Template.FriendlyName}'",
            Subject = $"Storage tier '{part.Template.FriendlyName}': ",
            Medium = $" of medium {part.Medium}",
        }.Decide(part.Columns > 0 ? part.Columns : null, part.Parities, part.Disks, part.Levels);

    private int AutomaticColumns(Part part)
    {
        int setting = request.AutoNumberOfColumns ? 0 : LayoutRequest.SettingOf(State, part.Layout).NumberOfColumnsDefault;
        int most = Math.Min(setting > 0 ? setting : VirtualDiskPlan.AutoColumnsMax, part.Disks.Length / part.Copies);
        return _domains.MostColumns(part.Levels, part.Copies, part.Disks, most);
    }

    private int ColumnsOfExisting() =>
        Existing.Where(static tier => tier.Parities == 0).Select(static tier => (int)tier.NumberOfColumns).Distinct().ToArray()
            is [var one] ? one : int.MaxValue;

    private TierDescription SpecOf(Part part, int columns)
    {
        string name = $"{request.FriendlyName}_{part.Template.FriendlyName}";
        return name.Length <= 256
            ? new TierDescription
            {
                FriendlyName = name,
                Description = part.Template.Description,
                MediaTypeCode = part.Template.MediaTypeCode,
                ResiliencySettingName = part.Layout,
                NumberOfColumns = (ushort)columns,
                NumberOfDataCopies = (ushort)part.Copies,
                PhysicalDiskRedundancy = (ushort)(part.Copies - 1 + part.Parities),
                Interleave = part.Interleave,
                FaultDomainAwareness = part.Levels.Awareness,
                ColumnIsolation = part.Levels.Isolation,
                SizeBytes = VirtualDiskPlan.RoundUp(part.SizeBytes, SliceSize(), SizeParameter),
            }
            : throw new ManagementException(
                ManagementError.InvalidParameter,
                $"-FriendlyName with the name of storage tier '{part.Template.FriendlyName}' has {name.Length} characters; the name of a tier has at most 256.",
                "Choose a shorter name.");
    }

    /// <summary>The source of the redundancy of a layout, in words.</summary>
    internal static string LayoutText(TierDescription part) => part.Parities > 0 ? $"{part.Parities} of them parity" : CopiesText(part.NumberOfDataCopies);

    private static string LayoutText(TierTemplate template) => template.ResiliencySettingName == TierDescription.ParityName
        ? $"{template.ResiliencySettingName} that survives {DisksText(template.PhysicalDiskRedundancy)}"
        : $"{template.ResiliencySettingName} with {CopiesText(template.NumberOfDataCopies)}";

    internal static string DisksText(long disks) => CountText.Of(disks, "disk");

    private static string CopiesText(int copies) => copies == 1 ? "1 copy" : $"{copies} copies";

    /// <summary>A tier in the making.</summary>
    /// <param name="Template">Template of the tier.</param>
    /// <param name="SizeBytes">Size that was asked for.</param>
    /// <param name="Disks">Disks that it may lie on.</param>
    /// <param name="Layout">Its layout.</param>
    /// <param name="Copies">Its copies.</param>
    /// <param name="Parities">Columns of parity; 0: simple or mirror.</param>
    /// <param name="Interleave">Bytes of a strip.</param>
    /// <param name="Columns">Columns that were asked for; 0: automatic.</param>
    /// <param name="Levels">Its fault domains.</param>
    private sealed record Part(
        TierTemplate Template, long SizeBytes, DiskNumber[] Disks, string Layout, int Copies, int Parities, uint Interleave, int Columns, DomainLevels Levels)
    {
        internal MediaType Medium => Template.Media();
    }
}
