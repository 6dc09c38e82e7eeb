using System.Globalization;

namespace TierSpaces.Host.Verbs;

/// <summary>Times of the day as users write them, HH:mm, and as the engine counts them, in minutes since midnight.</summary>
internal static class TimeOfDay
{
    private const int MinutesPerHour = 60;

    /// <summary>A minute of the day as text.</summary>
    public static string Text(int minute) => string.Create(CultureInfo.InvariantCulture, $"{minute / MinutesPerHour:00}:{minute % MinutesPerHour:00}");

    /// <summary>The minute that a text names; null when it names none.</summary>
    public static int? Read(string text) =>
        TimeOnly.TryParseExact(text, ["HH:mm", "H:mm"], CultureInfo.InvariantCulture, DateTimeStyles.None, out TimeOnly time)
            ? (time.Hour * MinutesPerHour) + time.Minute : null;
}
