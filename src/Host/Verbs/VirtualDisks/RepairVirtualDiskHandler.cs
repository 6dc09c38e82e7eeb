using TierSpaces.Contracts;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs.VirtualDisks;

/// <summary>Repair-VirtualDisk: repairs virtual disks side by side and answers when the last repair has ended.</summary>
internal sealed class RepairVirtualDiskHandler(HostServices services) : VerbHandler<RepairVirtualDiskRequest, VirtualDiskInfo>, ILongVerb
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        RepairVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        List<VirtualDiskStatus> planned = [];
        foreach (VirtualDiskStatus disk in all.VirtualDisks.Select(request.FriendlyName, request.UniqueId, request.Name, request.InputObject, reply.Fail))
        {
            await reply.TryAsync(async () =>
            {
                reply.Tell(Steps(disk, await services.Subsystem.Repairs.PlanAsync(disk.Description.Id.Value).ConfigureAwait(false)));
                planned.Add(disk);
                if (request.Force && disk is { OperationalStatus: "Error", MissingDisks.Count: > 0 })
                {
                    reply.Warn($"Virtual disk '{disk.Description.FriendlyName}': what only missing physical disks may have that are retired is given up. "
                        + disk.StatusReason);
                }

                if (reply.IsWhatIf && disk.MissingDisks.Count > 0)
                {
                    reply.Warn(WhatStays(disk));
                }
            }).ConfigureAwait(false);
        }

        if (!reply.IsWhatIf)
        {
            await RepairAsync(planned, request, reply).ConfigureAwait(false);
        }
    }

    private static IEnumerable<string> Steps(VirtualDiskStatus disk, RepairPlacement plan) => SlabMoveText.OfRepair(plan.Moved).Prepend(
        $"Repair virtual disk '{disk.Description.FriendlyName}': bring {SizeText.Exact(plan.BytesToResync)} up to date and verify every copy");

    private async Task RepairAsync(
        List<VirtualDiskStatus> disks, RepairVirtualDiskRequest request, ReplyBuilder<VirtualDiskInfo> reply)
    {
        (VirtualDiskStatus disk, Task<JobStatus> repair)[] repairs =
            disks.Select(disk => (disk, repair: services.Subsystem.Repairs.RepairAsync(disk.Description.Id.Value, request.Force))).ToArray();
        foreach ((VirtualDiskStatus? disk, Task<JobStatus>? repair) in repairs)
        {
            await reply.TryAsync(async () => Judge(disk, await repair.ConfigureAwait(false), reply)).ConfigureAwait(false);
        }

        Catalogue after = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        HashSet<VirtualDiskId> meant = [.. repairs.Where(static pair => pair.repair.IsCompletedSuccessfully).Select(static pair => pair.disk.Description.Id)];
        foreach (VirtualDiskStatus disk in after.VirtualDisks.All.Where(disk => meant.Contains(disk.Description.Id)))
        {
            reply.Add(request.PassThru ? [services.ToInfo(after, disk)] : []);
            await reply.TryAsync(() => RequireWhole(disk)).ConfigureAwait(false);
        }
    }

    private static string WhatStays(VirtualDiskStatus disk) =>
        $"Virtual disk '{disk.Description.FriendlyName}': physical disks with copies of it are missing: {string.Join(", ", disk.MissingDisks)}. "
        + "The repair leaves what they hold as it is and ends with an error, unless it is rebuilt elsewhere.";

    /// <summary>A repair cannot bring back what is on missing disks: that they have to be back, or given up, is an error.</summary>
    private static Task RequireWhole(VirtualDiskStatus disk) => disk.MissingDisks.Count == 0 ? Task.CompletedTask : throw new StorageException(
        StorageErrors.Failed,
        $"Virtual disk '{disk.Description.FriendlyName}' is repaired as far as it can be and stays {disk.OperationalStatus}: "
        + $"physical disks with copies of it are missing: {string.Join(", ", disk.MissingDisks)}.",
        "Bring them back, or give them up (Set-PhysicalDisk -Usage Retired) and repair again: their slabs are rebuilt where there is room. Blocks in doubt that "
        + "only they may have are given up with -Force.",
        disk.Description.FriendlyName);

    private static void Judge(VirtualDiskStatus disk, JobStatus job, ReplyBuilder<VirtualDiskInfo> reply)
    {
        string name = disk.Description.FriendlyName;
        if (job.State != JobState.Completed)
        {
            throw job.State switch
            {
                JobState.Terminated => new StorageException(StorageErrors.Failed, $"The repair of virtual disk '{name}' was stopped.", target: name),
                JobState.Suspended => new StorageException(
                    StorageErrors.Failed, $"The host stops; the repair of virtual disk '{name}' goes on when it runs again.", target: name),
                _ => new StorageException(
                    StorageErrors.Failed, $"The repair of virtual disk '{name}' could not go on: {job.ErrorDescription}.", target: name),
            };
        }

        if (job.Found is { Lost: > 0 })
        {
            reply.Warn($"Virtual disk '{name}': {job.Status}. Reading what is lost fails until it is written again.");
        }
        else if (job.Found is { Differing: > 0 })
        {
            reply.Warn($"Virtual disk '{name}': {job.Status}.");
        }
    }
}
