using TierSpaces.Contracts;

namespace TierSpaces.Host.Health;

/// <summary>Kind of an object that has a health.</summary>
internal enum HealthSubject
{
    /// <summary>A storage pool.</summary>
    StoragePool = 0,

    /// <summary>A virtual disk.</summary>
    VirtualDisk,

    /// <summary>A physical disk.</summary>
    PhysicalDisk,

    /// <summary>A recorded mount of a volume.</summary>
    Volume,
}

/// <summary>Health of one object at one moment, as the verbs show it.</summary>
/// <param name="Subject">Kind of the object.</param>
/// <param name="UniqueId">Unique identifier; for a volume its virtual disk, partition and mount point.</param>
/// <param name="Name">Friendly name; the mount point of a volume.</param>
/// <param name="PoolName">Friendly name of its pool; empty without one, and for a pool.</param>
/// <param name="Health">Health.</param>
/// <param name="Status">Operational status.</param>
/// <param name="Reason">Reason why it is not OK; empty when it is.</param>
internal sealed record ObjectHealth(
    HealthSubject Subject, string UniqueId, string Name, string PoolName, HealthStatus Health, string Status, string Reason)
{
    /// <summary>Identity among all objects.</summary>
    public (HealthSubject Subject, string UniqueId) Key => (Subject, UniqueId);

    /// <summary>Kind and name, for messages: virtual disk 'v' of storage pool 'p'.</summary>
    public string Title =>
        $"{Subject switch { HealthSubject.StoragePool => "storage pool", HealthSubject.VirtualDisk => "virtual disk", HealthSubject.PhysicalDisk => "physical disk", _ => "volume" }}"
        + $" '{Name}'{(PoolName.Length > 0 ? $" of storage pool '{PoolName}'" : "")}";

    /// <summary>Severity of the health: Information, Warning or Critical.</summary>
    public string Severity => Health switch
    {
        HealthStatus.Healthy => "Information",
        HealthStatus.Warning => "Warning",
        _ => "Critical",
    };

    /// <summary>One line for people, which says what is wrong.</summary>
    public string Line => OneLine($"{Severity}: {Title}: {Status}.{(Reason.Length > 0 ? " " + Reason : "")}");

    /// <summary>
    /// Whether another observation of the object is the same health. The operational status counts only while the object is not healthy: a virtual disk
    /// that an administrator disconnects has no fault.
    /// </summary>
    public bool IsSameAs(ObjectHealth other) => Health == other.Health && (Health == HealthStatus.Healthy || Status == other.Status);

    /// <summary>Returns a text on one line, without control characters.</summary>
    public static string OneLine(string text) => string.Create(text.Length, text, static (line, source) =>
    {
        for (int i = 0; i < source.Length; i++)
        {
            line[i] = char.IsControl(source[i]) ? ' ' : source[i];
        }
    });
}
