namespace TierSpaces.Host.Serving;

/// <summary>Who starts the host again when it dies.</summary>
internal enum SupervisorKind
{
    /// <summary>A small process of our own.</summary>
    Own,

    /// <summary>systemd.</summary>
    Systemd,

    /// <summary>Nobody.</summary>
    None,
}

/// <summary>How the host runs.</summary>
/// <param name="Detach">
/// Say <c>ready</c> on standard output, then stand alone; when a host already runs, say it for that one.
/// </param>
/// <param name="Supervisor">Who starts it again.</param>
internal sealed record ServeOptions(bool Detach, SupervisorKind Supervisor);
