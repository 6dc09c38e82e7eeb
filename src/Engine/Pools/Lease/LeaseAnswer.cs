using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>A lease that was taken.</summary>
/// <param name="Session">The session.</param>
/// <param name="UntilNs">It runs until this time on the boot clock.</param>
/// <param name="Disks">The disks whose areas were read.</param>
/// <param name="IsTaken">Whether another host may have held the pool since its disks were looked at.</param>
/// <param name="View">The view of whose votes it has the majority.</param>
internal sealed record LeaseGrant(SessionToken Session, long UntilNs, IReadOnlyList<LeaseDisk> Disks, bool IsTaken, ViewRank View);

/// <summary>Result of a step to the lease: the lease, or what is waited for.</summary>
/// <param name="Grant">The lease; null: not yet.</param>
/// <param name="Reason">The reason for the wait, in words.</param>
/// <param name="OpensSoon">Whether time alone decides, less than a minute.</param>
internal readonly record struct LeaseAnswer(LeaseGrant? Grant, string Reason, bool OpensSoon)
{
    internal static LeaseAnswer Of(LeaseGrant grant) => new(grant, "", true);

    /// <summary>Something has to happen elsewhere first.</summary>
    internal static LeaseAnswer Refuse(string reason) => new(null, reason, false);

    /// <summary>Time alone decides.</summary>
    internal static LeaseAnswer Wait(string reason) => new(null, reason, true);
}

/// <summary>Majorities of the votes of a view, and of those before while they count.</summary>
/// <param name="View">The view.</param>
/// <param name="HasWitness">Whether this host has its witness.</param>
internal readonly record struct LeaseVotes(PoolView View, bool HasWitness)
{
    /// <summary>Whether disks are the majority.</summary>
    internal bool AreMajority(IReadOnlyCollection<LeaseDisk> disks, bool withWitness)
    {
        HashSet<DiskNumber> numbers = [.. disks.Select(static disk => disk.Number)];
        bool isWitnessed = withWitness && HasWitness;
        return View.Votes.IsMajority(numbers.Contains, isWitnessed)
            && View.Prior?.IsMajority(numbers.Contains, isWitnessed && View.Prior.Witness == View.Witness) != false;
    }
}
