namespace TierSpaces.Host.CommandLine;

/// <summary>What was typed cannot be carried out; the message says what to type instead. Nothing was sent.</summary>
internal sealed class UsageException(string message) : Exception(message);
