using TierSpaces.Fuzz.Targets;

namespace TierSpaces.Fuzz;

/// <summary>Every target there is, in the order of the layers.</summary>
internal sealed class TargetList : IDisposable
{
    private readonly SystemTargets _system = new();

    internal TargetList() =>
        All = [.. FormatTargets.All, .. RecordTargets.All, .. TextTargets.All, .. _system.All, .. RequestTargets.All, .. NbdTargets.All, .. ImageTargets.All];

    /// <summary>The targets.</summary>
    internal IReadOnlyList<FuzzTarget> All { get; }

    /// <inheritdoc/>
    public void Dispose() => _system.Dispose();
}
