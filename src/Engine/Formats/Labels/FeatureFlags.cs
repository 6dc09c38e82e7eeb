namespace TierSpaces.Engine.Formats;

/// <summary>Features a pool uses, one bit each.</summary>
/// <param name="Compatible">A release that does not know them may read and write.</param>
/// <param name="ReadOnlyCompatible">A release that does not know them may read.</param>
/// <param name="Incompatible">A release that does not know them must leave the pool alone.</param>
public readonly record struct FeatureFlags(uint Compatible, uint ReadOnlyCompatible, uint Incompatible)
{
    /// <summary>
    /// Compatible: superblocks and the witness file carry a <see cref="MemberHistory"/>, and the metadata a <see cref="DiskHeld"/> for each disk
    /// that left. A release that does not know it ignores both and serves the pool by its own rules.
    /// </summary>
    public const uint MemberHistoryFeature = 1;

    /// <summary>
    /// Incompatible: a virtual disk, a template or a default of the pool keeps copies apart by fault domains wider than a disk. A release that does not know it
    /// could place them in one domain.
    /// </summary>
    public const uint FaultDomainsFeature = 1;

    /// <summary>Incompatible: a virtual disk has parity. A release that does not know it would read its columns of parity as data.</summary>
    public const uint ParityFeature = 2;

    /// <summary>
    /// Incompatible: every member of the pool votes, and a record is durable only when every metadata disk holds it. A release that does not know it would
    /// count the votes of the metadata disks alone, and acknowledge what one of them lacks.
    /// </summary>
    public const uint MemberVotesFeature = 4;

    /// <summary>
    /// Incompatible: the host that serves the pool holds a lease on its disks. A release that does not know it would open the pool beside that host.
    /// </summary>
    public const uint LeaseFeature = 8;

    /// <summary>
    /// Incompatible: write caches on the disks of the pool have summaries. A release that does not know them would take one for the end of what a cache holds.
    /// </summary>
    public const uint CacheSummariesFeature = 16;

    private const uint KnownReadOnlyCompatible = 0;
    private const uint KnownIncompatible = FaultDomainsFeature | ParityFeature | MemberVotesFeature | LeaseFeature | CacheSummariesFeature;

    /// <summary>Reason why this release must not open the pool, or empty when it may.</summary>
    public string UnsupportedReason
    {
        get
        {
            uint incompatible = Incompatible & ~KnownIncompatible;
            uint readOnly = ReadOnlyCompatible & ~KnownReadOnlyCompatible;
            return (incompatible, readOnly) switch
            {
                (0, 0) => "",
                (0, _) => $"It uses features (0x{readOnly:X8}) that this release must not write. Open it with a newer release.",
                _ => $"It uses features (0x{incompatible:X8}) that this release does not know. Open it with a newer release.",
            };
        }
    }

    /// <summary>The features of both.</summary>
    internal FeatureFlags With(FeatureFlags other) =>
        new(Compatible | other.Compatible, ReadOnlyCompatible | other.ReadOnlyCompatible, Incompatible | other.Incompatible);

    internal void Encode(ByteWriter to)
    {
        to.U32(Compatible);
        to.U32(ReadOnlyCompatible);
        to.U32(Incompatible);
    }

    internal static FeatureFlags Decode(ref ByteReader from) => new(from.U32(), from.U32(), from.U32());
}
