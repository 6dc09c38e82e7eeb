using System.Globalization;

namespace TierSpaces.Host;

/// <summary>
/// The log: standard error, which a detached host has turned to <c>host.log</c>. One line per message, UTC first.
/// </summary>
internal static class HostLog
{
    /// <summary>Writes one line.</summary>
    public static void Write(string message)
    {
        var now = DateTime.UtcNow.ToString("yyyy-MM-ddTHH:mm:ss.fffZ", CultureInfo.InvariantCulture);
        Console.Error.WriteLine($"{now} {Environment.ProcessId} {message}");
    }
}
