using System.Management.Automation;

namespace TierSpaces.Cmdlets;

/// <summary>
/// Name of an object given to a parameter: for the host its identifier, for an administrator its friendly name, for a pin its
/// place.
/// </summary>
internal static class ObjectName
{
    internal static string Unique(PSObject value) =>
        Text(value, "UniqueId") ?? Text(value, "PinUniqueId") ?? Text(value, "FriendlyName") ?? value.ToString();

    internal static string Display(object? value) =>
        value is PSObject given ? Text(given, "FriendlyName") ?? Text(given, "Place") ?? Unique(given) : value?.ToString() ?? string.Empty;

    private static string? Text(PSObject value, string property) =>
        value.Properties[property]?.Value?.ToString() is { Length: > 0 } text ? text : null;
}
