using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// The records of pins.
//
// Invariant
//  1. The parts of a pin are numbered from 0 without a gap, belong to one virtual disk and tier, and ascend.

/// <summary>Applies records of pins to the state of a pool.</summary>
internal static class PinRules
{
    internal static PoolState? SetPin(PoolState state, PinSet pin, ref string reason)
    {
        if (!pin.IsPossible)
        {
            return RecordRules.Refuse(
                $"part {pin.Part} of pin {pin.Id} with {(pin.Ranges.IsDefault ? 0 : pin.Ranges.Length)} pieces is impossible", out reason);
        }

        if (state.VirtualDisk(pin.Disk) is not { } disk || !Holds(disk, pin))
        {
            return RecordRules.Refuse($"there is no virtual disk {pin.Disk} with a tier {pin.Tier}, or it ends before byte {pin.Ranges[^1].End}", out reason);
        }

        return !state.Pins.ContainsKey((pin.Id, pin.Part)) && (pin.Part == 0 || Follows(state, pin))
            ? state with { Pins = state.Pins.Add((pin.Id, pin.Part), pin) }
            : RecordRules.Refuse($"part {pin.Part} of pin {pin.Id} is there or does not follow the one before", out reason);
    }

    // A record of a checkpoint must be accepted when it is read.
    internal static bool HoldsPins(PoolState state, VirtualDiskDescription disk) => state.Pins.Values.All(pin => pin.Disk != disk.Id || Holds(disk, pin));

    private static bool Holds(VirtualDiskDescription disk, PinSet pin) =>
        disk.IsTiered && disk.Tiers.Any(tier => tier.Id == pin.Tier) && pin.Ranges[^1].End <= disk.SizeBytes;

    private static bool Follows(PoolState state, PinSet pin) => state.Pins.TryGetValue((pin.Id, pin.Part - 1), out PinSet? before)
        && before.Disk == pin.Disk && before.Tier == pin.Tier && before.Ranges[^1].End < pin.Ranges[0].Offset;

    internal static PoolState? RemovePin(PoolState state, Guid id, ref string reason)
    {
        ImmutableSortedDictionary<(Guid Id, uint Part), PinSet>.Builder left = state.Pins.ToBuilder();
        for (uint part = 0; left.Remove((id, part)); part++)
        {
        }

        return left.Count < state.Pins.Count ? state with { Pins = left.ToImmutable() } : RecordRules.Refuse($"there is no pin {id}", out reason);
    }

    internal static ImmutableSortedDictionary<(Guid Id, uint Part), PinSet> PinsWithout(PoolState state, VirtualDiskId disk) =>
        state.Pins.RemoveRange(state.Pins.Values.Where(pin => pin.Disk == disk).Select(static pin => (pin.Id, pin.Part)));
}
