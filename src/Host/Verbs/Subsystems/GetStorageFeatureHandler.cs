using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs.Subsystems;

/// <summary>Get-StorageFeature: answers from the table of features.</summary>
internal sealed class GetStorageFeatureHandler : VerbHandler<GetStorageFeatureRequest, StorageFeatureInfo>
{
    private static readonly Selector<StorageFeatureInfo> s_selector = new(
        "TierSpaces_StorageFeature", [.. StorageFeatures.All], static feature => feature.Name, static feature => feature.Name);

    /// <inheritdoc/>
    protected override Task HandleAsync(GetStorageFeatureRequest request, ReplyBuilder<StorageFeatureInfo> reply, CancellationToken cancellation)
    {
        reply.Add(s_selector.Select(null, null, request.Name, null, reply.Fail));
        return Task.CompletedTask;
    }
}
