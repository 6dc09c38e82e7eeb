using TierSpaces.Contracts;
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
        List<PhysicalDiskStatus> selected = disks.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, reply.Fail);
        Confirmation.Require(
            request, [.. selected.Select(disk => disk.FriendlyName)], (nameof(request.FriendlyName), ListOf(request.FriendlyName)),
            (nameof(request.UniqueId), ListOf(request.UniqueId)), (nameof(request.InputObject), request.InputObject));
        foreach (PhysicalDiskStatus disk in selected)
        {
            await reply.TryAsync(() => ResetAsync(disk, reply)).ConfigureAwait(false);
        }
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

        remarks.ToList().ForEach(reply.Warn);
        reply.Tell(StepsOf(disk, signatures).Prepend($"Erase what storage pools and other software wrote on physical disk '{disk.FriendlyName}'"));
    }

    private static IEnumerable<string> StepsOf(PhysicalDiskStatus disk, IReadOnlyList<DiskSignature> signatures) => signatures.Select(signature =>
        $"Physical disk '{disk.FriendlyName}': erase {signature.Name} at offset {signature.Offset} (0x{signature.Offset:x}), {signature.Length} bytes");

    private static string[]? ListOf(string? text) => text is null ? null : [text];
}
