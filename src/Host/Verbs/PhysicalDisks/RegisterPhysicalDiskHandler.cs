using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>
/// Register-PhysicalDisk: makes existing files and devices known; pools on them open, and what was connected is attached.
/// </summary>
internal sealed class RegisterPhysicalDiskHandler(HostServices services)
    : VerbHandler<RegisterPhysicalDiskRequest, PhysicalDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        RegisterPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        foreach (RegistrationSpec spec in request.ToSpecs())
        {
            await reply.TryDoAsync($"Register {spec.Path} as a physical disk and open the storage pool it is a member of", async () =>
            {
                PhysicalDiskStatus disk = await services.Subsystem.PhysicalDisks.RegisterAsync(spec).ConfigureAwait(false);
                reply.Add(disk.ToInfo());
                DiskRemarks.OfBus(disk).ToList().ForEach(reply.Warn);
            }, () => services.Subsystem.PhysicalDisks.CheckRegisterAsync(spec)).ConfigureAwait(false);
        }

        if (!reply.IsWhatIf)
        {
            await services.Startup.AttachConnectedAsync().ConfigureAwait(false);
        }
    }
}
