using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>A job of the engine as the object users see.</summary>
internal static class StorageJobMapping
{
    /// <summary>Maps one.</summary>
    public static StorageJobInfo ToInfo(this JobStatus job)
    {
        string uniqueId = Identifiers.OfPoolOrDisk(job.UniqueId);
        string? status = job.Status.Length > 0 ? job.Status : null;
        return new StorageJobInfo
        {
            Name = job.Name,
            UniqueId = uniqueId,
            ObjectId = Identifiers.ObjectId("MSFT_StorageJob", uniqueId),
            Description = job.Description,
            ElapsedTime = Text(job.Elapsed),
            ErrorCode = job.State == JobState.Exception ? (ushort)StorageErrors.Failed.Code : (ushort)0,
            ErrorDescription = job.ErrorDescription.Length > 0 ? job.ErrorDescription : null,
            JobState = DisplayName.Of((StorageJobState)job.State),
            JobStatus = status,
            LocalOrUtcTime = DisplayName.Of(LocalOrUtcTime.UtcTime),
            OperationalStatus = [DisplayName.Of(StatusOf(job.State))],
            StatusDescriptions = status is null ? null : [status],
            PercentComplete = (ushort)job.PercentComplete,
            StartTime = job.StartTime.UtcDateTime,
            TimeSubmitted = job.TimeSubmitted.UtcDateTime,
            TimeOfLastStateChange = job.TimeOfLastStateChange.UtcDateTime,
            TimeBeforeRemoval = Text(TimeSpan.FromTicks(JobList.RemovalNs / 100)),
            DeleteOnCompletion = true,
            IsBackgroundTask = true,
            RecoveryAction = DisplayName.Of(RecoveryAction.Other),
            OtherRecoveryAction = "The job goes on when its storage pool is open again",
            BytesProcessed = (ulong)job.BytesProcessed,
            BytesTotal = (ulong)job.BytesTotal,
            TimeRemaining = job.TimeLeft is { } left ? Text(left) : null,
            VirtualDiskFriendlyName = job.VirtualDiskName,
            VirtualDiskUniqueId = Identifiers.OfVirtualDisk(job.VirtualDisk),
            StoragePoolUniqueId = Identifiers.OfPoolOrDisk(job.PoolId),
            BlocksVerified = (ulong?)job.Found?.Verified,
            BlocksHealed = (ulong?)job.Found?.Healed,
            BlocksLost = (ulong?)job.Found?.Lost,
            BlocksDiffering = (ulong?)job.Found?.Differing,
        };
    }

    private static OperationalStatus StatusOf(JobState state) => state switch
    {
        JobState.New => OperationalStatus.Starting,
        JobState.Running => OperationalStatus.InService,
        JobState.Suspended => OperationalStatus.Dormant,
        JobState.ShuttingDown => OperationalStatus.Stopping,
        JobState.Completed => OperationalStatus.Completed,
        JobState.Terminated => OperationalStatus.Aborted,
        _ => OperationalStatus.Error,
    };

    private static string Text(TimeSpan time) =>
        TimeSpan.FromSeconds(Math.Floor(time.TotalSeconds)).ToString("c", CultureInfo.InvariantCulture);
}
