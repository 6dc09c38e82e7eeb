namespace TierSpaces.Engine.Management;

/// <summary>A search that is repeated: whether it is under way, and when the next one is due. Times are the lane's.</summary>
internal sealed class DiskSearch
{
    /// <summary>Whether it is under way; no second one begins then.</summary>
    internal bool IsUnderWay { get; private set; }

    /// <summary>Time of the next search; 0: at once.</summary>
    internal long NextNs { get; private set; }

    /// <summary>A search begins.</summary>
    internal void Begin() => IsUnderWay = true;

    /// <summary>The search has ended; the next one is due at <paramref name="nextNs"/>.</summary>
    internal void End(long nextNs) => (IsUnderWay, NextNs) = (false, nextNs);

    /// <summary>The object of the search has changed: the next search is due at once.</summary>
    internal void Renew() => NextNs = 0;
}
