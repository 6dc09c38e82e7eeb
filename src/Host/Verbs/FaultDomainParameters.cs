using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Host.Verbs;

/// <summary>Reads parameters of fault domains: a type, and the switch for enclosures that says the same.</summary>
internal static class FaultDomainParameters
{
    /// <summary>The level that two parameters ask for; null: they leave it open.</summary>
    /// <exception cref="StorageException">They contradict each other.</exception>
    public static FaultDomainLevel? Level(FaultDomainType? type, bool? isEnclosureAware, string typeName, string switchName)
    {
        bool isContradiction = type is { } given && isEnclosureAware is { } said && said != (given == FaultDomainType.StorageEnclosure);
        return !isContradiction ? (FaultDomainLevel?)(type ?? isEnclosureAware switch
            {
                true => FaultDomainType.StorageEnclosure,
                false => FaultDomainType.PhysicalDisk,
                null => null,
            })
            : throw new StorageException(
                StorageErrors.InvalidParameter, $"-{switchName} {isEnclosureAware} contradicts -{typeName} {type}.", "Give one of them.", switchName);
    }

    /// <summary>The settings of a pool with other defaults.</summary>
    public static PoolDescription WithDefaults(PoolDescription pool, FaultDomainType? type, bool? isEnclosureAware) =>
        Level(type, isEnclosureAware, "FaultDomainAwarenessDefault", "EnclosureAwareDefault") is not { } level ? pool
            : pool with { FaultDomainAwarenessDefault = level, EnclosureAwareDefault = level == FaultDomainLevel.StorageEnclosure };
}
