using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>A command line that cannot be carried out: an error of code 5. The message says what to type instead; nothing was sent to the host.</summary>
internal sealed class UsageException(string message) : Exception(message)
{
    /// <summary>The error as it is printed.</summary>
    public StorageErrorInfo Error => new StorageException(StorageErrors.InvalidParameter, Message).Error;
}
