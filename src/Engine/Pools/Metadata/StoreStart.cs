using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>Start of the metadata of a pool: a recovered state, or that of a new pool.</summary>
/// <param name="Id">Pool.</param>
/// <param name="View">View that the members hold.</param>
/// <param name="Session">Number of this opening.</param>
/// <param name="Epoch">Highest epoch of any superblock.</param>
/// <param name="State">State at the end of the journal.</param>
/// <param name="Head">End of the journal.</param>
/// <param name="History">Sessions that superblocks name.</param>
internal sealed record StoreStart(PoolId Id, PoolView View, ulong Session, ulong Epoch, PoolState State, JournalPosition Head, MemberHistory History)
{
    /// <summary>Holds the lease of the pool; null: it has none.</summary>
    internal LeaseHolder? Lease { get; init; }

    /// <summary>Whether the pool is being made.</summary>
    internal bool IsForming { get; init; }
}
