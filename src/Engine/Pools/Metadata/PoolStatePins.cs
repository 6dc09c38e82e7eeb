using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Pins of a pool. The parts of a pin are there from 0 on without a gap, of one virtual disk and tier, and ascend.

public sealed partial record PoolState
{
    /// <summary>Pins by identity and part.</summary>
    public ImmutableSortedDictionary<(Guid Id, uint Part), PinSet> Pins { get; private init; } =
        ImmutableSortedDictionary<(Guid Id, uint Part), PinSet>.Empty;

    private PoolState? SetPin(PinSet pin, ref string reason)
    {
        if (!pin.IsPossible)
        {
            return Refuse($"part {pin.Part} of pin {pin.Id} with {(pin.Ranges.IsDefault ? 0 : pin.Ranges.Length)} pieces is impossible", out reason);
        }

        if (VirtualDisk(pin.Disk) is not { } disk || !Holds(disk, pin))
        {
            return Refuse($"there is no virtual disk {pin.Disk} with a tier {pin.Tier}, or it ends before byte {pin.Ranges[^1].End}", out reason);
        }

        return !Pins.ContainsKey((pin.Id, pin.Part)) && (pin.Part == 0 || Follows(pin))
            ? this with { Pins = Pins.Add((pin.Id, pin.Part), pin) }
            : Refuse($"part {pin.Part} of pin {pin.Id} is there or does not follow the one before", out reason);
    }

    // What is in a checkpoint must be accepted when it is read.
    private bool HoldsPins(VirtualDiskDescription disk) => Pins.Values.All(pin => pin.Disk != disk.Id || Holds(disk, pin));

    private static bool Holds(VirtualDiskDescription disk, PinSet pin) =>
        disk.IsTiered && disk.Tiers.Any(tier => tier.Id == pin.Tier) && pin.Ranges[^1].End <= disk.SizeBytes;

    private bool Follows(PinSet pin) => Pins.TryGetValue((pin.Id, pin.Part - 1), out PinSet? before)
        && before.Disk == pin.Disk && before.Tier == pin.Tier && before.Ranges[^1].End < pin.Ranges[0].Offset;

    private PoolState? RemovePin(Guid id, ref string reason)
    {
        ImmutableSortedDictionary<(Guid Id, uint Part), PinSet>.Builder left = Pins.ToBuilder();
        for (uint part = 0; left.Remove((id, part)); part++)
        {
        }

        return left.Count < Pins.Count ? this with { Pins = left.ToImmutable() } : Refuse($"there is no pin {id}", out reason);
    }

    private ImmutableSortedDictionary<(Guid Id, uint Part), PinSet> PinsWithout(VirtualDiskId disk) =>
        Pins.RemoveRange(Pins.Values.Where(pin => pin.Disk == disk).Select(static pin => (pin.Id, pin.Part)));
}
