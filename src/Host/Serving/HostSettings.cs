using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Devices;
using TierSpaces.Host.Health;
using TierSpaces.Host.Volumes;
using TierSpaces.Host.Volumes.FileSystems;

namespace TierSpaces.Host.Serving;

/// <summary>
/// Settings of a host: those of its environment, where the caller gives no others. A value that cannot be parsed is logged, and the default is used.
/// </summary>
internal sealed record HostSettings
{
    /// <summary>Environment variable that says whether new virtual disks are attached, <c>yes</c> or <c>no</c>; yes where it is not set.</summary>
    internal const string AttachNewVariable = "TIERSPACES_ATTACH_NEW_DISKS";

    /// <summary>Number of lanes of virtual disks.</summary>
    public int DataLanes { get; } = Of(LaneFactory.CountVariable, LaneFactory.ParseCount, LaneFactory.DefaultCount);

    /// <summary>Backend of the lanes that was asked for; null: the best that works.</summary>
    public LaneBackend? Backend { get; } = ReadBackend();

    /// <summary>Deadlines of requests to member disks.</summary>
    public IoDeadlines Deadlines { get; } = Of("TIERSPACES_IO_DEADLINES", IoDeadlines.Parse, IoDeadlines.Default);

    /// <summary>Times after which disks that are missing are replaced.</summary>
    public HealingTimes Healing { get; } = Of("TIERSPACES_MISSING_DISK_SECONDS", HealingTimes.ParseGrace, HealingTimes.Default);

    /// <summary>Whether a new virtual disk is attached when it has been created, unless it is to be attached by hand.</summary>
    public bool AttachesNewDisks { get; init; } = Of(AttachNewVariable, ParseAnswer, true);

    /// <summary>Folder in which volumes are mounted.</summary>
    public string MountRoot { get; } = Of(MountService.RootVariable, ParseRoot, MountService.DefaultRoot);

    /// <summary>Local file system that is made in place of those of Windows; empty for the defaults.</summary>
    public string FileSystem { get; } = Of(FileSystemChoice.Variable, FileSystemChoice.Parse, "");

    /// <summary>Folder of the programs that are run at changes of the health; empty: the one in the home of the host.</summary>
    public string HookFolder { get; } = Of(Health.HookFolder.Variable, Health.HookFolder.Parse, "");

    /// <summary>Longest time that such a program may run.</summary>
    public TimeSpan HookLimit { get; } = Of(Health.HookFolder.LimitVariable, Health.HookFolder.ParseLimit, Health.HookFolder.DefaultLimit);

    /// <summary>Reads the backend that the environment asks for, for commands that need no other setting.</summary>
    internal static LaneBackend? ReadBackend() => Of(LaneFactory.BackendVariable, LaneFactory.ParseBackend, null);

    private static bool ParseAnswer(string text) => text.ToLowerInvariant() switch
    {
        "yes" or "true" or "1" => true,
        "no" or "false" or "0" => false,
        _ => throw new FormatException($"'{text}' is not valid. Valid: yes and no."),
    };

    private static string ParseRoot(string text) => Path.IsPathFullyQualified(text)
        ? Path.TrimEndingDirectorySeparator(Path.GetFullPath(text)) : throw new FormatException($"'{text}' is no absolute path.");

    private static T Of<T>(string variable, Func<string, T> parse, T otherwise)
    {
        try
        {
            return Environment.GetEnvironmentVariable(variable) is { Length: > 0 } text ? parse(text) : otherwise;
        }
        catch (FormatException mistake)
        {
            HostLog.Write($"{variable}: {mistake.Message} The default value is used.");
            return otherwise;
        }
    }
}
