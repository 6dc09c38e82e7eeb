namespace TierSpaces.Engine.Jobs;

/// <summary>
/// Whether a job verifies. A repair that began by itself copies what is behind and no more: verifying is the work of a scrub on its schedule. One that
/// was asked for verifies, also if it had begun by itself.
/// </summary>
public sealed class VerifyOrder(bool isGiven)
{
    /// <summary>Whether the steps that verify do so; else they have nothing to go through.</summary>
    public bool IsGiven { get; private set; } = isGiven;

    /// <summary>Lets them.</summary>
    internal void Give() => IsGiven = true;
}
