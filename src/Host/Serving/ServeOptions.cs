namespace TierSpaces.Host.Serving;

/// <summary>Process that starts the host again when it dies.</summary>
internal enum SupervisorKind
{
    /// <summary>A small process of our own.</summary>
    Own,

    /// <summary>systemd.</summary>
    Systemd,

    /// <summary>No supervisor: the host is not started again.</summary>
    None,
}

/// <summary>Options of the host process.</summary>
/// <param name="Detach">
/// Print <c>ready</c> on standard output, then detach from the caller. If a host already runs, print it for that host.
/// </param>
/// <param name="Supervisor">Process that starts the host again.</param>
internal sealed record ServeOptions(bool Detach, SupervisorKind Supervisor);
