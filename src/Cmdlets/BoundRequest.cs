using System.Management.Automation;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>
/// From bound parameters to a request record. A parameter that was not bound stays null in the record: "not given" and "given as
/// zero" are different requests.
/// </summary>
internal static class BoundRequest
{
    private static readonly string[] s_naming =
        ["InputObject", "FriendlyName", "Path", "Name", "UniqueId", "FilePath", "VirtualDiskFriendlyName", "VirtualDisk", "VirtualDiskUniqueId"];

    /// <summary>Fills a record from the cmdlet's bound parameters.</summary>
    internal static TRequest Fill<TRequest>(TRequest request, PSCmdlet cmdlet)
        where TRequest : StorageRequest
    {
        foreach (ParameterDescription parameter in VerbDescription.Of(typeof(TRequest)).Parameters)
        {
            if (Bound(cmdlet, parameter.Name) is { } value)
            {
                parameter.Property.SetValue(request, ForTheWire(parameter, value, cmdlet));
            }
        }

        return request;
    }

    /// <summary>Turns a request into the question what would be done.</summary>
    internal static void AskWhatIf(StorageRequest request) =>
        typeof(StorageRequest).GetProperty(nameof(StorageRequest.WhatIf))!.SetValue(request, true);

    /// <summary>Returns the target that a confirmation or a "What if" message names: the objects, as an administrator would name them.</summary>
    internal static string Target(PSCmdlet cmdlet)
    {
        string noun = cmdlet.MyInvocation.MyCommand.Name.Split('-')[1];
        object? named = s_naming.Select(name => Bound(cmdlet, name)).FirstOrDefault(value => value is not null)
            ?? cmdlet.MyInvocation.BoundParameters.Values.FirstOrDefault();
        string text = string.Join(", ", Elements(named).Select(ObjectName.Display));
        return text.Length == 0 ? noun : $"{noun} '{text}'";
    }

    private static object? Bound(PSCmdlet cmdlet, string parameter) =>
        cmdlet.MyInvocation.BoundParameters.ContainsKey(parameter)
            ? cmdlet.GetType().GetProperty(parameter)!.GetValue(cmdlet)
            : null;

    private static object ForTheWire(ParameterDescription parameter, object value, PSCmdlet cmdlet) => value switch
    {
        SwitchParameter flag => flag.ToBool(),
        PSObject one => ObjectName.Unique(one),
        PSObject[] several => Array.ConvertAll(several, static one => one is null ? null : ObjectName.Unique(one)),
        string path when parameter.Attribute.Kind == ParameterKind.Path => FullPath(path, cmdlet),
        string[] paths when parameter.Attribute.Kind == ParameterKind.Path => Array.ConvertAll(paths, path => FullPath(path, cmdlet)),
        _ => value,
    };

    // The host's current folder is not the shell's, and the shell's location is not its process's folder either.
    private static string FullPath(string path, PSCmdlet cmdlet) =>
        cmdlet.SessionState.Path.GetUnresolvedProviderPathFromPSPath(path);

    private static IEnumerable<object?> Elements(object? value) => value switch
    {
        null => [],
        Array several => several.Cast<object?>(),
        _ => [value],
    };
}
