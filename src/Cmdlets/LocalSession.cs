using System.Management.Automation;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>-CimSession: scripts pass it, and there is one machine it may name.</summary>
internal static class LocalSession
{
    private static readonly string[] s_names = ["localhost", ".", "127.0.0.1", "::1", Environment.MachineName];

    /// <summary>The error for the first session that is not this machine, or null.</summary>
    internal static StorageErrorInfo? Refuse(PSObject[]? sessions)
    {
        string? other = sessions?.Select(Machine).FirstOrDefault(name => !s_names.Contains(name, StringComparer.OrdinalIgnoreCase));
        return other is null
            ? null
            : new StorageException(
                StorageErrors.NotSupported,
                $"Parameter CimSession is '{other}'; allowed is this machine: {string.Join(", ", s_names)}.",
                "Leave the parameter out, or run the command on that machine.",
                other).Error;
    }

    private static string Machine(PSObject session) =>
        session.Properties["ComputerName"]?.Value?.ToString() ?? session.ToString();
}
