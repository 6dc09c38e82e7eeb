namespace TierSpaces.Engine.Primitives;

/// <summary>A rule of the engine does not hold: its state in memory is wrong, and nothing that follows from it can be trusted.</summary>
/// <param name="sentence">The rule.</param>
public sealed class InvariantException(string sentence) : Exception("The engine broke its own rule: " + sentence);
