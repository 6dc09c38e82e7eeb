namespace TierSpaces.Engine.Devices;

/// <summary>The slot of an enclosure that a block device is in, as the enclosure reports it.</summary>
/// <param name="EnclosureId">Logical identifier of the enclosure: the same on every host that it is connected to.</param>
/// <param name="EnclosureNumber">Position of the enclosure among those of this host, from 0.</param>
/// <param name="SlotNumber">Number of the slot; -1 if it is not reported.</param>
public sealed record EnclosureSlot(string EnclosureId, int EnclosureNumber, int SlotNumber);
