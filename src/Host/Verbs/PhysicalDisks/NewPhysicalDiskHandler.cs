using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>New-PhysicalDisk: makes image files and registers them.</summary>
internal sealed class NewPhysicalDiskHandler(HostServices services) : VerbHandler<NewPhysicalDiskRequest, PhysicalDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        NewPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        long size = Amount.Bytes(request.Size!.Value, nameof(request.Size));
        foreach (RegistrationSpec spec in request.ToSpecs())
        {
            await reply.TryDoAsync($"Create the image file {spec.Path} of {SizeText.Exact(size)} and register it as a physical disk", async () =>
            {
                PhysicalDiskStatus disk = await services.Subsystem.PhysicalDisks.CreateAsync(spec, size, request.Preallocate).ConfigureAwait(false);
                reply.Add(disk.ToInfo());
                DiskRemarks.OfBus(disk).ToList().ForEach(reply.Warn);
            }, () => services.Subsystem.PhysicalDisks.CheckCreateAsync(spec, size)).ConfigureAwait(false);
        }
    }
}
