using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Import-StorageTierHeatMap: reads and checks a file, then puts its heat in place of that of a virtual disk.</summary>
internal sealed class ImportStorageTierHeatMapHandler(HostServices services)
    : VerbHandler<ImportStorageTierHeatMapRequest, StorageTierHeatFileInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        ImportStorageTierHeatMapRequest request, ReplyBuilder<StorageTierHeatFileInfo> reply, CancellationToken cancellation)
    {
        string path = request.Path
            ?? throw new StorageException(StorageErrors.InvalidParameter, "-Path must be given.", "Name the file to read.", nameof(request.Path));
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        VirtualDiskStatus disk = all.VirtualDisks.SelectOne(request.FriendlyName, request.UniqueId, null, request.InputObject);
        HeatFile file = new HeatFile(services.Subsystem, disk, path);
        HeatFileReader read = await file.ReadAsync().ConfigureAwait(false);
        StorageTierHeatFileInfo info = file.ToInfo(read);
        await reply.DoAsync(
            string.Create(CultureInfo.InvariantCulture,
            $"Put the heat of {CountText.Of((long)info.HotSlices, "slice")} of {SizeText.Exact(info.SliceSize)}, written {info.TimeWritten:yyyy-MM-dd HH:mm} UTC, in place of that of virtual disk '{disk.Description.FriendlyName}'"),
            () => services.Subsystem.Heat.ImportAsync(disk.Description.Id.Value, read),
            () => services.Subsystem.Heat.CheckImportAsync(disk.Description.Id.Value)).ConfigureAwait(false);
        reply.Add(request.PassThru && !reply.IsWhatIf ? [info] : []);
    }
}
