using TierSpaces.Contracts;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs;

/// <summary>The pool that a verb is about: a concrete one, or the primordial pool, which contains every registered disk.</summary>
/// <param name="Status">The concrete pool; null for the primordial one.</param>
internal sealed record StoragePoolTarget(StoragePoolStatus? Status)
{
    /// <summary>Name of the primordial pool.</summary>
    public const string PrimordialName = "Primordial";

    /// <summary>Friendly name.</summary>
    public string FriendlyName => Status?.Description.FriendlyName ?? PrimordialName;

    /// <summary>Identity; empty for the primordial pool.</summary>
    public Guid Id => Status?.UniqueId ?? Guid.Empty;

    /// <summary>Whether it is the primordial pool.</summary>
    public bool IsPrimordial => Status is null;

    /// <summary>The concrete pool.</summary>
    /// <exception cref="StorageException">It is the primordial pool.</exception>
    public StoragePoolStatus Concrete => Status ?? throw new StorageException(
        StorageErrors.PrimordialPool, $"'{PrimordialName}' is the pool of all registered disks.", "Name a pool that was created.", PrimordialName);
}
