using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Export-StorageTierHeatMap: writes the heat of a virtual disk to a file, and reads it back.</summary>
internal sealed class ExportStorageTierHeatMapHandler(HostServices services)
    : VerbHandler<ExportStorageTierHeatMapRequest, StorageTierHeatFileInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        ExportStorageTierHeatMapRequest request, ReplyBuilder<StorageTierHeatFileInfo> reply, CancellationToken cancellation)
    {
        string path = request.Path
            ?? throw new StorageException(StorageErrors.InvalidParameter, "-Path must be given.", "Name the file to write.", nameof(request.Path));
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        VirtualDiskStatus disk = all.VirtualDisks.SelectOne(request.FriendlyName, request.UniqueId, null, request.InputObject);
        HeatFile file = new HeatFile(services.Subsystem, disk, path);
        file.CheckFree(request.Force);
        await services.Subsystem.Heat.ReaderAsync(disk.Description.Id.Value).ConfigureAwait(false);   // refuses what has no tiers
        await reply.DoAsync($"Write the heat of virtual disk '{disk.Description.FriendlyName}' to '{path}'", async () =>
        {
            await file.WriteAsync(request.Force).ConfigureAwait(false);
            reply.Add(file.ToInfo(await file.ReadAsync().ConfigureAwait(false)));
        }).ConfigureAwait(false);
    }
}
