using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.VirtualDisks;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Set-PhysicalDisk: changes name, description, medium, usage or place.</summary>
internal sealed class SetPhysicalDiskHandler(HostServices services) : VerbHandler<SetPhysicalDiskRequest, PhysicalDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        SetPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        PlaceChange place = PlaceOf(all, request);
        foreach (PhysicalDiskStatus disk in all.Disks.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail))
        {
            List<string> moves = [];
            await reply.TryDoAsync(
                $"Set {request.Changes()} of physical disk '{disk.FriendlyName}'",
                async () =>
                {
                    PhysicalDiskStatus changed = await services.Subsystem.PhysicalDisks.SetAsync(
                        disk.UniqueId, request.NewFriendlyName, request.Description, request.MediaType?.ToEngine(), (DiskUsage?)request.Usage, place)
                        .ConfigureAwait(false);
                    changed.Remarks.ToList().ForEach(reply.Warn);
                },
                async () => moves.AddRange(SlabMoveText.OfMoves(await services.Subsystem.PhysicalDisks.PlanSetAsync(
                    disk.UniqueId, request.NewFriendlyName, request.MediaType?.ToEngine(), (DiskUsage?)request.Usage, place).ConfigureAwait(false))))
                .ConfigureAwait(false);
            reply.Tell(moves);
        }
    }

    private static PlaceChange PlaceOf(Catalogue all, SetPhysicalDiskRequest request)
    {
        if (request is { StorageEnclosureId: { } both, EnclosureNumber: { } number })
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, $"-StorageEnclosureId '{both}' and -EnclosureNumber {number} name the enclosure twice.", "Give one of them.",
                nameof(request.StorageEnclosureId));
        }

        PlaceChange place = new()
        {
            EnclosureNumber = request.EnclosureNumber,
            SlotNumber = request.SlotNumber,
            ScaleUnit = request.StorageScaleUnitId,
            Chassis = request.StorageChassisId,
            Rack = request.StorageRackId,
        };
        return request.StorageEnclosureId switch
        {
            null => place,
            "" => place with { EnclosureNumber = -1 },
            var id when ushort.TryParse(id, NumberStyles.None, CultureInfo.InvariantCulture, out ushort plain) => place with { EnclosureNumber = plain },
            var id => In(place, all.Enclosures.One(id).Place),
        };
    }

    private static PlaceChange In(PlaceChange place, DiskPlace enclosure) =>
        place with { EnclosureNumber = enclosure.EnclosureNumber, EnclosureId = FaultDomains.PartsOf(enclosure.Path, -1)[^1] };
}
