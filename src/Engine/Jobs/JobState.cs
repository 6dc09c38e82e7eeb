namespace TierSpaces.Engine.Jobs;

/// <summary>State of a job. Numbered as Windows numbers them.</summary>
public enum JobState
{
    /// <summary>Asked for, not begun.</summary>
    New = 2,

    /// <summary>At work.</summary>
    Running = 4,

    /// <summary>Its pool was closed under it; it goes on when the pool is open again.</summary>
    Suspended = 5,

    /// <summary>Told to stop; the piece under way is ending.</summary>
    ShuttingDown = 6,

    /// <summary>Done.</summary>
    Completed = 7,

    /// <summary>Stopped by a user.</summary>
    Terminated = 8,

    /// <summary>Could not go on.</summary>
    Exception = 10,
}
