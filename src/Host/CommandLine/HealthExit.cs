using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>Exit codes of the commands that answer with a health, as monitoring systems read them.</summary>
internal static class HealthExit
{
    /// <summary>Everything is healthy.</summary>
    public const int Healthy = 0;

    /// <summary>Something is in health Warning.</summary>
    public const int Warning = 1;

    /// <summary>Something is unhealthy, or a pool is not open.</summary>
    public const int Unhealthy = 2;

    /// <summary>The health is not known: no host runs or answers, or the command line is wrong.</summary>
    public const int Unknown = 3;

    /// <summary>The time was up before what was waited for.</summary>
    public const int TimedOut = 4;

    /// <summary>Returns the exit code of a health by its name; of one that is not known <see cref="Unknown"/>.</summary>
    public static int Of(string? health) => Enum.TryParse(health, out HealthStatus status) && status <= HealthStatus.Unhealthy ? (int)status : Unknown;
}
