namespace TierSpaces.Contracts;

/// <summary>A verb, or one object of it, failed; nothing was changed for that object.</summary>
public sealed class StorageException : Exception
{
    /// <summary>Wraps an error that is complete.</summary>
    public StorageException(StorageErrorInfo error, Exception? inner = null)
        : base(error.OneLine, inner) => Error = error;

    /// <summary>Makes an error from a row of the table.</summary>
    /// <param name="kind">The row.</param>
    /// <param name="extended">Parameter, value, valid range and cause.</param>
    /// <param name="action">Action that the administrator should take.</param>
    /// <param name="target">The object or value it is about.</param>
    /// <param name="inner">Exception that caused the error.</param>
    public StorageException(
        StorageErrorKind kind, string extended = "", string action = "", string target = "", Exception? inner = null)
        : this(Describe(kind, extended, action, target), inner)
    {
    }

    /// <summary>The error as it crosses the socket.</summary>
    public StorageErrorInfo Error { get; }

    /// <summary>The error for an object that was named exactly and does not exist.</summary>
    /// <param name="windowsClass">Class of the object, for example MSFT_StoragePool.</param>
    /// <param name="property">Property it was looked for by.</param>
    /// <param name="value">Value it was looked for by.</param>
    public static StorageException NotFound(string windowsClass, string property, string value) => new(new StorageErrorInfo
    {
        Code = StorageErrors.ObjectNotFound.Code,
        Word = StorageErrors.ObjectNotFound.Word,
        ErrorId = $"CmdletizationQuery_NotFound_{property}",
        Category = StorageErrors.ObjectNotFound.Category,
        Message = $"No {windowsClass} objects found with property '{property}' equal to '{value}'.  "
            + "Verify the value of the property and retry.",
        Target = value,
    });

    private static StorageErrorInfo Describe(StorageErrorKind kind, string extended, string action, string target) => new()
    {
        Code = kind.Code,
        Word = kind.Word,
        ErrorId = $"StorageWMI {kind.Code}",
        Category = kind.Category,
        Message = kind.Message,
        ExtendedInformation = extended,
        RecommendedAction = action,
        Target = target,
    };
}
