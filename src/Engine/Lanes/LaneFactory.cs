using System.Globalization;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Lanes;

/// <summary>Makes lanes: on io_uring where the kernel and its filters allow it, on threads elsewhere.</summary>
public static class LaneFactory
{
    /// <summary>Environment variable that forces a backend: <c>uring</c> or <c>threads</c>.</summary>
    public const string BackendVariable = "TIERSPACES_IO_BACKEND";

    /// <summary>Environment variable with the number of data lanes.</summary>
    public const string CountVariable = "TIERSPACES_LANES";

    /// <summary>Most data lanes.</summary>
    public const int CountMax = 64;

    /// <summary>Number of data lanes unless another one is asked for: one for each processor but one, at least one.</summary>
    public static int DefaultCount => Math.Clamp(Environment.ProcessorCount - 1, 1, CountMax);

    /// <summary>Reads a number of data lanes, 1 to <see cref="CountMax"/>.</summary>
    /// <exception cref="FormatException">It is not that; the message says what is expected.</exception>
    public static int ParseCount(string text) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int count) && count is >= 1 and <= CountMax ? count
            : throw new FormatException($"'{text}' is not a number of data lanes. Valid: 1 to {CountMax}.");

    /// <summary>Starts a lane. <see cref="Lane.BackendReason"/> says which backend it got and why.</summary>
    /// <param name="name">Name of its thread, for messages.</param>
    /// <param name="forced">The backend to use; null asks the environment variable, then probes.</param>
    /// <param name="options">Settings; null for the defaults.</param>
    /// <exception cref="PlatformNotSupportedException">The forced backend does not work here; the message says why.</exception>
    /// <exception cref="ArgumentException">The environment variable holds something else than a backend.</exception>
    public static Lane Create(string name, LaneBackend? forced = null, LaneOptions? options = null)
    {
        if (forced is not null)
        {
            return Start(name, forced, "asked for", options);
        }

        try
        {
            return CreateAsked(name, Environment.GetEnvironmentVariable(BackendVariable) is { Length: > 0 } text ? ParseBackend(text) : null, options);
        }
        catch (FormatException mistake)
        {
            throw new ArgumentException($"{BackendVariable}: {mistake.Message} Without it TierSpaces chooses.", mistake);
        }
    }

    /// <summary>Starts a lane for a caller that has read the environment variable.</summary>
    /// <param name="name">Name of its thread, for messages.</param>
    /// <param name="asked">The backend that the variable asks for; null probes.</param>
    /// <param name="options">Settings; null for the defaults.</param>
    /// <exception cref="PlatformNotSupportedException">The backend does not work here; the message says why.</exception>
    public static Lane CreateAsked(string name, LaneBackend? asked, LaneOptions? options = null) =>
        Start(name, asked, $"asked for by {BackendVariable}", options);

    /// <summary>Reads a backend, <c>uring</c> or <c>threads</c>.</summary>
    /// <exception cref="FormatException">It is not that; the message says what is expected.</exception>
    public static LaneBackend? ParseBackend(string text) => text.ToLowerInvariant() switch
    {
        "uring" or "io_uring" => LaneBackend.Uring,
        "threads" => LaneBackend.Threads,
        _ => throw new FormatException($"'{text}' is not an I/O backend. Valid: uring and threads."),
    };

    private static Lane Start(string name, LaneBackend? wanted, string why, LaneOptions? options)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        options ??= new LaneOptions();
        if (wanted == LaneBackend.Threads)
        {
            return StartThreads(name, options, why);
        }

        UringLane lane = new(name, options)
        {
            BackendReason = $"io_uring: kernel {KernelVersion()}" + (wanted is null ? string.Empty : $", {why}"),
        };
        if (lane.Start() is not { } reason)
        {
            return lane;
        }

        return wanted is null
            ? StartThreads(name, options, reason)
            : throw new PlatformNotSupportedException($"The io_uring backend was {why}, but this system refuses it: {reason}.");
    }

    private static ThreadPoolLane StartThreads(string name, LaneOptions options, string reason)
    {
        ThreadPoolLane lane = new(name, options) { BackendReason = $"threads: {reason}" };
        if (lane.Start() is { } failure)
        {
            throw new PlatformNotSupportedException($"Lane {name} cannot start: {failure}.");
        }

        return lane;
    }

    private static string KernelVersion() => Environment.OSVersion.Version.ToString(2);
}
