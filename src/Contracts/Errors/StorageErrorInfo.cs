using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>An error as it crosses the socket: what, the circumstances, what to do.</summary>
public sealed record StorageErrorInfo
{
    /// <summary>Number of the error.</summary>
    public int Code { get; init; }

    /// <summary>Word of the row in the table of errors.</summary>
    public string Word { get; init; } = "";

    /// <summary>
    /// First part of PowerShell's FullyQualifiedErrorId: <c>StorageWMI 48004</c>, or
    /// <c>CmdletizationQuery_NotFound_FriendlyName</c> for a missing object.
    /// </summary>
    public string ErrorId { get; init; } = "";

    /// <summary>Name of PowerShell's error category.</summary>
    public string Category { get; init; } = "";

    /// <summary>The problem.</summary>
    public string Message { get; init; } = "";

    /// <summary>Parameter, value, valid range and cause; empty if the message has them all.</summary>
    public string ExtendedInformation { get; init; } = "";

    /// <summary>Action that the administrator should take; empty when no action helps.</summary>
    public string RecommendedAction { get; init; } = "";

    /// <summary>The object or value it is about; empty for none.</summary>
    public string Target { get; init; } = "";

    /// <summary>The three parts on one line.</summary>
    [JsonIgnore]
    public string OneLine => string.Join(
        " ", new[] { Message, ExtendedInformation, RecommendedAction }.Where(part => part.Length > 0));

    /// <summary>The three parts as Windows prints them.</summary>
    [JsonIgnore]
    public string FullText =>
        Message
        + (ExtendedInformation.Length == 0 ? "" : $"\n\nExtended information:\n{ExtendedInformation}")
        + (RecommendedAction.Length == 0 ? "" : $"\n\nRecommended Actions:\n- {RecommendedAction}");
}
