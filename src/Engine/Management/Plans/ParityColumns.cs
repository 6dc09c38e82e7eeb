using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// One parity: 3 to 8 columns by itself; two: 7 to 17, as in Windows. On request as few as two columns of data.

/// <summary>Decides the columns of a virtual disk or a tier with parity, or refuses what cannot be. Changes nothing.</summary>
/// <param name="state">The pool.</param>
/// <param name="domains">Its fault domains.</param>
/// <param name="isAutomatic">Whether as many columns are asked for as the disks allow.</param>
/// <param name="remark">Takes remarks on the columns, for the user.</param>
internal sealed class ParityColumns(PoolState state, FaultDomainPlan domains, bool isAutomatic, Action<string> remark)
{
    private const int SingleColumnsMin = 3;
    private const int DualColumnsMin = 7;
    private const int DualColumnsMax = 17;
    private const int DataColumnsMin = 2;

    /// <summary>Kind of disks of the columns, for remarks.</summary>
    internal required string Owner { get; init; }

    /// <summary>Text before errors: the tier that they speak of, or nothing.</summary>
    internal string Subject { get; init; } = "";

    /// <summary>Text behind physical disks in errors: their medium, or nothing.</summary>
    internal string Medium { get; init; } = "";

    /// <summary>Returns the columns.</summary>
    /// <param name="asked">Columns that are asked for; null: automatic.</param>
    /// <param name="parities">Columns of parity among them.</param>
    /// <param name="usable">Disks that it may lie on.</param>
    /// <param name="levels">Its fault domains.</param>
    internal int Decide(int? asked, int parities, DiskNumber[] usable, DomainLevels levels)
    {
        LayoutRequest.CheckColumns(asked, min: parities + DataColumnsMin);
        if (isAutomatic && asked is not null)
        {
            throw new ManagementException(
                ManagementError.ColumnsRange, $"-NumberOfColumns {asked} contradicts -AutoNumberOfColumns.", "Give one of them.");
        }

        int needed = asked ?? (parities == 1 ? SingleColumnsMin : DualColumnsMin);
        string shape = $"Parity that survives {TieredDiskPlan.DisksText(parities)}";
        if (usable.Length < needed)
        {
            int least = parities + DataColumnsMin;
            throw new ManagementException(
                asked is null ? ManagementError.NotEnoughPhysicalDisks : ManagementError.ColumnsRange,
                $"{Subject}{(asked is null ? "" : $"-NumberOfColumns {asked} of ")}{shape} needs {needed} physical disks{Medium}; {usable.Length} can be used.",
                $"Add {TieredDiskPlan.DisksText(needed - usable.Length)}{(usable.Length >= least ? $", or give -NumberOfColumns {least} to {usable.Length}" : "")}.");
        }

        domains.Require(levels, $"{Subject}Parity", needed, 1, usable, parities);
        int setting = isAutomatic ? 0 : LayoutRequest.SettingOf(state, TierDescription.ParityName).NumberOfColumnsDefault;
        int most = Math.Min(
            usable.Length, setting >= parities + DataColumnsMin ? setting : parities == 1 ? VirtualDiskPlan.AutoColumnsMax : DualColumnsMax);
        int columns = asked ?? domains.MostColumns(levels, 1, usable, most, parities);
        RemarkOnStripe(columns, parities, usable.Length);
        return columns;
    }

    /// <summary>Requests of programs are powers of two long: only stripes that are so are written whole by them.</summary>
    private void RemarkOnStripe(int columns, int parities, int usable)
    {
        int data = columns - parities;
        if (!BitOperations.IsPow2(data))
        {
            int lower = 1 << BitOperations.Log2((uint)data);
            bool canBeMore = (2 * lower) + parities <= usable && 2 * lower - data <= data - lower;
            int nearest = canBeMore || lower < DataColumnsMin ? 2 * lower : lower;
            remark(
                $"{Owner} has {data} columns of data: programs write powers of two, which do not fill such stripes whole. "
                + $"-NumberOfColumns {nearest + parities} has {nearest}.");
        }
    }
}
