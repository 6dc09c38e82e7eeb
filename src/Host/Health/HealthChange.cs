using System.Globalization;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Health;

/// <summary>A change of the health of one object.</summary>
/// <param name="Before">Health before; <see cref="HealthStatus.Unknown"/> for an object that was not known.</param>
/// <param name="After">Health after it.</param>
/// <param name="IsRemoved">Whether the object is not there any more: then <paramref name="After"/> only names it.</param>
/// <param name="Time">Time at which it was seen, in UTC.</param>
internal sealed record HealthChange(ObjectHealth Before, ObjectHealth After, bool IsRemoved, DateTime Time)
{
    /// <summary>Prefix of the variables of a hook.</summary>
    public const string Prefix = "TIERSPACES_";

    private const string Removed = "Removed";

    /// <summary>Name of the event: FaultAppeared, FaultChanged or FaultCleared.</summary>
    public string Event => IsRemoved || After.Health == HealthStatus.Healthy ? "FaultCleared"
        : Before.Health is HealthStatus.Healthy or HealthStatus.Unknown ? "FaultAppeared" : "FaultChanged";

    /// <summary>Severity: Information for a fault that is cleared, else that of the health.</summary>
    public string Severity => IsRemoved ? "Information" : After.Severity;

    /// <summary>One line for the log.</summary>
    public string Line => ObjectHealth.OneLine(
        $"{Severity}: {After.Title} is {(IsRemoved ? "removed" : Shown(After))}, was {Shown(Before)}.{(After.Reason.Length > 0 ? " " + After.Reason : "")}");

    /// <summary>Environment of a hook: a variable for each fact, empty where there is none.</summary>
    public Dictionary<string, string> Variables => new()
    {
        [Prefix + "EVENT"] = Event,
        [Prefix + "OBJECT_TYPE"] = After.Subject.ToString(),
        [Prefix + "OBJECT_NAME"] = Clean(After.Name),
        [Prefix + "OBJECT_ID"] = Clean(After.UniqueId),
        [Prefix + "POOL_NAME"] = Clean(After.PoolName),
        [Prefix + "OLD_HEALTH"] = DisplayName.Of(Before.Health),
        [Prefix + "NEW_HEALTH"] = IsRemoved ? Removed : DisplayName.Of(After.Health),
        [Prefix + "OLD_STATUS"] = Before.Status,
        [Prefix + "NEW_STATUS"] = After.Status,
        [Prefix + "SEVERITY"] = Severity,
        [Prefix + "REASON"] = Clean(After.Reason),
        [Prefix + "ACTION"] = IsRemoved ? "" : HealthAdvice.For(After),
        [Prefix + "TIME"] = Time.ToString("yyyy-MM-ddTHH:mm:ss.fffZ", CultureInfo.InvariantCulture),
    };

    private static string Shown(ObjectHealth one) =>
        one.Health == HealthStatus.Unknown ? "not known" : one.Status.Length > 0 ? $"{DisplayName.Of(one.Health)} ({one.Status})" : DisplayName.Of(one.Health);

    /// <summary>One line of bounded length: the kernel limits the environment of a process.</summary>
    private static string Clean(string text)
    {
        const int longest = 4096;
        return ObjectHealth.OneLine(text.Length <= longest ? text : text[..longest]);
    }
}
