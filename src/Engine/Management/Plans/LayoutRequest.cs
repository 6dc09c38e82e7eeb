using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>
/// Layout requested for a virtual disk, a tier or a template; null: decide. Validation errors name parameter, value and range.
/// </summary>
/// <param name="Name">Simple, Mirror or Parity.</param>
/// <param name="Copies">Copies of the data.</param>
/// <param name="Redundancy">Disks that may fail.</param>
internal readonly record struct LayoutRequest(string? Name, int? Copies, int? Redundancy)
{
    internal const int ColumnsMax = 64;
    private const int InterleaveMin = 16 << 10;

    /// <summary>Whether nothing is asked for.</summary>
    internal bool IsOpen => this == default;

    /// <summary>The parameters that ask for it.</summary>
    public override string ToString() => string.Join(" ", new[]
    {
        Name is null ? "" : $"-ResiliencySettingName {Name}", Copies is null ? "" : $"-NumberOfDataCopies {Copies}", Redundancy is null ? ""
            : $"-PhysicalDiskRedundancy {Redundancy}",
    }.Where(static text => text.Length > 0));

    /// <summary>The name of the layout as the pool spells it; copies alone may say that it is Simple.</summary>
    internal string DecideName(PoolState state)
    {
        string? named = Name ?? (Copies == 1 || Redundancy == 0 ? "Simple" : null);
        return SettingOf(state, named ?? state.Pool!.ResiliencySettingNameDefault).Name;
    }

    /// <summary>Columns of parity of a layout that <see cref="DecideName"/> has decided.</summary>
    internal int DecideParities(PoolState state, string layout) => layout != TierDescription.ParityName ? 0
        : Redundancy is null or 1 or 2 ? Redundancy ?? SettingOf(state, layout).PhysicalDiskRedundancyDefault
        : throw new ManagementException(
            ManagementError.RedundancyRange, $"-PhysicalDiskRedundancy {Redundancy}: not possible with Parity. Valid: 1 and 2.");

    /// <summary>Copies of a layout that <see cref="DecideName"/> has decided.</summary>
    internal int DecideCopies(PoolState state, string layout)
    {
        if (layout == "Simple")
        {
            return OfSimple();
        }

        if (layout == TierDescription.ParityName)
        {
            return Copies is null or 1 ? 1 : throw new ManagementException(
                ManagementError.CopiesRange, $"-NumberOfDataCopies {Copies}: not possible with Parity. Valid: 1.",
                "Choose Mirror for more copies, or -PhysicalDiskRedundancy 2 for parity that survives two disks.");
        }

        if (Copies is < 2 or > 3)
        {
            throw new ManagementException(
                ManagementError.CopiesRange, $"-NumberOfDataCopies {Copies}: not possible with Mirror. Valid: 2 and 3.",
                Copies == 1 ? "One copy is no mirror: give -ResiliencySettingName Simple, which has one, or 2 copies, which need 2 physical disks."
                    : "Give 2, which survives the failure of one physical disk, or 3, which survives two.");
        }

        if (Redundancy is < 1 or > 2)
        {
            throw new ManagementException(
                ManagementError.RedundancyRange, $"-PhysicalDiskRedundancy {Redundancy}: not possible with Mirror. Valid: 1 and 2.",
                Redundancy == 0 ? "A layout that survives no failure is no mirror: give -ResiliencySettingName Simple, or -PhysicalDiskRedundancy 1."
                    : "Give 1, which has 2 copies, or 2, which has 3.");
        }

        if (this is { Copies: { } copies, Redundancy: { } redundancy } && copies != redundancy + 1)
        {
            throw new ManagementException(
                ManagementError.CopiesRange,
                $"-NumberOfDataCopies {copies} contradicts -PhysicalDiskRedundancy {redundancy}, which means {redundancy + 1} copies.", "Give one of them.");
        }

        return Copies ?? (Redundancy + 1) ?? SettingOf(state, layout).NumberOfDataCopiesDefault;
    }

    /// <summary>A setting of the pool by its name.</summary>
    internal static ResiliencyDefaults SettingOf(PoolState state, string name) =>
        state.Pool!.ResiliencySettings.FirstOrDefault(setting => string.Equals(setting.Name, name, StringComparison.OrdinalIgnoreCase))
        ?? throw new ManagementException(
            ManagementError.NoSuchResiliencySetting,
            $"-ResiliencySettingName '{name}' is not one of {string.Join(", ", state.Pool.ResiliencySettings.Select(setting => setting.Name))}.");

    /// <summary>Refuses columns outside their range.</summary>
    internal static void CheckColumns(int? columns, int min)
    {
        if (columns < min || columns > ColumnsMax)
        {
            throw new ManagementException(ManagementError.ColumnsRange, $"-NumberOfColumns {columns}: out of range. Valid: {min} to {ColumnsMax}.");
        }
    }

    /// <summary>The strip of a layout. One that only the pool asks for is as large as slabs of the pool allow.</summary>
    internal static uint DecideInterleave(PoolState state, long? asked, string layout, int parities)
    {
        long strip = asked ?? SettingOf(state, layout).InterleaveDefault;
        long most = asked is null && parities > 0 ? ParityGeometry.InterleaveMax(state.Pool!.Slabs.DataBytes) : strip;
        return CheckedInterleave(state, Math.Min(strip, most), parities);
    }

    /// <summary>Refuses parity without checksums.</summary>
    internal static void RequireChecksums(string layout, ChecksumKind checksum)
    {
        if (layout == TierDescription.ParityName && checksum == ChecksumKind.None)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter,
                "-Checksum None: not possible with Parity, which decides by checksums what is right after a crash with a physical disk missing. Valid: CRC32C.",
                "Leave the parameter out.");
        }
    }

    /// <summary>A strip in bytes, unless it is outside its range in this pool.</summary>
    internal static uint CheckedInterleave(PoolState state, long interleave, int parities = 0)
    {
        long slab = state.Pool!.Slabs.DataBytes;
        long max = VirtualDiskLayout.InterleaveMax(state.Pool.Slabs, parities > 0);
        return interleave >= InterleaveMin && interleave <= max && BitOperations.IsPow2(interleave) ? (uint)interleave : throw new ManagementException(
            ManagementError.InterleaveRange,
            $"-Interleave {ByteText.Exact(interleave)} is not a power of two from {ByteText.Exact(InterleaveMin)} to {ByteText.Exact(max)}{(parities > 0 ? " with Parity" : "")} (the slab of this pool has {ByteText.Exact(slab)}).");
    }

    private int OfSimple()
    {
        if (Copies is not (null or 1))
        {
            throw new ManagementException(
                ManagementError.CopiesRange, $"-NumberOfDataCopies {Copies}: not possible with Simple. Valid: 1.", "Choose Mirror for more copies.");
        }

        return Redundancy is null or 0 ? 1 : throw new ManagementException(
            ManagementError.RedundancyRange, $"-PhysicalDiskRedundancy {Redundancy}: not possible with Simple. Valid: 0.", "Choose Mirror.");
    }
}
