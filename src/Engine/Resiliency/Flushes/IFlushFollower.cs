namespace TierSpaces.Engine.Resiliency;

/// <summary>Follows the flush rounds of a space.</summary>
internal interface IFlushFollower
{
    /// <summary>A round begins: what is entered now is durable at its end.</summary>
    void OnRoundBegun();

    /// <summary>The round that began last has ended well.</summary>
    void OnRoundEnded();
}
