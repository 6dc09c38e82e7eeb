using TierSpaces.Contracts;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Set-EmulatedDiskFault: makes emulated disks fail.</summary>
internal sealed class SetEmulatedDiskFaultHandler(HostServices services) : VerbHandler<SetEmulatedDiskFaultRequest, PhysicalDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        SetEmulatedDiskFaultRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        EmulatedFault fault = new EmulatedFault
        {
            ReadErrorsPerMillion = Number(request.ReadErrorsPerMillion, 0),
            WriteErrorsPerMillion = Number(request.WriteErrorsPerMillion, 0),
            BitFlipsPerMillion = Number(request.BitFlipsPerMillion, 0),
            ErrorOffset = (long)Math.Min(request.ErrorOffset ?? 0, long.MaxValue),
            ErrorLength = (long)Math.Min(request.ErrorLength ?? 0, long.MaxValue),
            SlowFactor = Number(request.SlowFactor, 1),
            IsHung = request.Hang,
            IsPulled = request.Pull,
        };
        if (request.Clear && fault != EmulatedFault.None)
        {
            throw new StorageException(StorageErrors.InvalidParameter, "-Clear goes with no other fault. Leave one of them out.", target: "Clear");
        }

        if (request is { ErrorOffset: { } offset, ErrorLength: null or 0 })
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, $"-ErrorOffset {SizeText.Exact(offset)} begins no range: -ErrorLength is missing or 0.", "Give the length of the range.",
                "ErrorOffset");
        }

        Selector<PhysicalDiskStatus> disks = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Disks;
        foreach (PhysicalDiskStatus disk in disks.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail))
        {
            await reply.TryDoAsync(
                $"Set {request.Changes("the faults to none")} of physical disk '{disk.FriendlyName}'",
                () => services.Subsystem.EmulatedDisks.SetFaultAsync(disk.UniqueId, fault),
                () => services.Subsystem.EmulatedDisks.CheckSetFaultAsync(disk.UniqueId, fault)).ConfigureAwait(false);
        }
    }

    private static int Number(uint? given, int absent) => given is { } number ? (int)Math.Min(number, int.MaxValue) : absent;
}
