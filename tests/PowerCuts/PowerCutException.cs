namespace TierSpaces.PowerCuts;

/// <summary>A promise was broken, or a machine did not do what it should; the message says which.</summary>
internal sealed class PowerCutException(string message) : Exception(message);
