using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Reset-PhysicalDisk: erases what an unpooled disk holds.</summary>
internal sealed class ResetPhysicalDiskHandler(HostServices services) : VerbHandler<ResetPhysicalDiskRequest, PhysicalDiskInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        ResetPhysicalDiskRequest request, ReplyBuilder<PhysicalDiskInfo> reply, CancellationToken cancellation)
    {
        Selector<PhysicalDiskStatus> disks = (await Catalogue.ReadAsync(services).ConfigureAwait(false)).Disks;
        string[] paths = [.. (request.Path ?? []).Select(Path.GetFullPath).Distinct()];
        List<PhysicalDiskStatus> selected = request.Path is not null ? [.. disks.All.Where(disk => PathsOf(disk).Intersect(paths).Any())]
            : disks.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail);
        string[] unregistered = [.. paths.Except(selected.SelectMany(PathsOf))];
        Confirmation.Require(
            request, [.. selected.Select(disk => disk.FriendlyName), .. unregistered], (nameof(request.FriendlyName), ListOf(request.FriendlyName)),
            (nameof(request.UniqueId), ListOf(request.UniqueId)), (nameof(request.InputObject), request.InputObject),
            (nameof(request.Path), request.Path));
        foreach (PhysicalDiskStatus disk in selected)
        {
            await reply.TryAsync(() => ResetAsync(disk, reply)).ConfigureAwait(false);
        }

        foreach (string path in unregistered)
        {
            await reply.TryAsync(() => ResetAsync(path, reply)).ConfigureAwait(false);
        }
    }

    private async Task ResetAsync(string path, ReplyBuilder<PhysicalDiskInfo> reply)
    {
        FoundSignatures found = reply.IsWhatIf ? await services.Subsystem.PhysicalDisks.PlanResetPathAsync(path).ConfigureAwait(false)
            : await services.Subsystem.PhysicalDisks.ResetPathAsync(path).ConfigureAwait(false);
        Tell(path, found.Signatures, PhysicalDiskService.NotAsked(found), reply);
    }

    private async Task ResetAsync(PhysicalDiskStatus disk, ReplyBuilder<PhysicalDiskInfo> reply)
    {
        IReadOnlyList<DiskSignature> signatures;
        IEnumerable<string> remarks;
        if (reply.IsWhatIf)
        {
            FoundSignatures found = await services.Subsystem.PhysicalDisks.PlanResetAsync(disk.UniqueId).ConfigureAwait(false);
            (signatures, remarks) = (found.Signatures, PhysicalDiskService.NotAsked(found));
        }
        else
        {
            PhysicalDiskStatus reset = await services.Subsystem.PhysicalDisks.ResetAsync(disk.UniqueId).ConfigureAwait(false);
            (signatures, remarks) = (reset.ErasedSignatures, reset.Remarks);
        }

        Tell(disk.FriendlyName, signatures, remarks, reply);
    }

    private static void Tell(
        string name, IReadOnlyList<DiskSignature> signatures, IEnumerable<string> remarks, ReplyBuilder<PhysicalDiskInfo> reply)
    {
        remarks.ToList().ForEach(reply.Warn);
        reply.Tell(StepsOf(name, signatures).Prepend($"Erase what storage pools and other software wrote on physical disk '{name}'"));
    }

    private static IEnumerable<string> PathsOf(PhysicalDiskStatus disk) => disk.Uris.Select(static uri => DiskUri.Parse(uri).Path);

    private static IEnumerable<string> StepsOf(string name, IReadOnlyList<DiskSignature> signatures) => signatures.Select(signature =>
        $"Physical disk '{name}': erase {signature.Name} at offset {SizeText.Offset(signature.Offset)} (0x{signature.Offset:x}), {SizeText.Exact(signature.Length)}");

    private static string[]? ListOf(string? text) => text is null ? null : [text];
}
