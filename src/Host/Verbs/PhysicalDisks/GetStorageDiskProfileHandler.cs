using TierSpaces.Contracts;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.PhysicalDisks;

/// <summary>Get-StorageDiskProfile: lists the latency profiles of the engine.</summary>
internal sealed class GetStorageDiskProfileHandler : VerbHandler<GetStorageDiskProfileRequest, StorageDiskProfileInfo>
{
    private const long NanosecondsPerMicrosecond = 1000;

    private static readonly Selector<LatencyProfile> s_selector = new(
        "TierSpaces_StorageDiskProfile", [.. LatencyProfile.All], static profile => profile.Name, static profile => profile.Name);

    /// <inheritdoc/>
    protected override Task HandleAsync(
        GetStorageDiskProfileRequest request, ReplyBuilder<StorageDiskProfileInfo> reply, CancellationToken cancellation)
    {
        reply.Add(s_selector.Select(null, null, request.Name, null, reply.Fail).Select(ToInfo));
        return Task.CompletedTask;
    }

    private static StorageDiskProfileInfo ToInfo(LatencyProfile profile) => new()
    {
        Name = profile.Name,
        MediaType = DisplayName.Of(profile.MediaType.ToContract()),
        BusType = DisplayName.Of(profile.BusType.ToContract()),
        SpindleSpeed = profile.SpindleSpeed,
        QueueDepth = profile.Figures.QueueDepth,
        RandomReadIops = profile.Figures.ReadsPerSecond,
        RandomWriteIops = profile.Figures.WritesPerSecond,
        AccessTimeMicroseconds = profile.Figures.AccessNs / NanosecondsPerMicrosecond,
        BytesPerSecond = profile.Figures.BytesPerSecond,
        FlushMicroseconds = profile.Figures.FlushNs / NanosecondsPerMicrosecond,
        CapacityEffect = profile.SpindleSpeed > 0
            ? "Seeks are as long as the way over the capacity of the disk. Data that is close together is faster; the rate is the same at every place."
            : "None.",
    };
}
