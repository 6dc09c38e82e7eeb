using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>Parameters of every verb that stay on this side of the socket. A verb's own parameters win over them.</summary>
internal static class CommonParameters
{
    /// <summary>Print an array of JSON objects instead of a table.</summary>
    public const string Json = "Json";

    /// <summary>Say what would be done and do nothing.</summary>
    public const string WhatIf = "WhatIf";

    /// <summary>Ask before doing it, or never ask (<c>-Confirm:false</c>).</summary>
    public const string Confirm = "Confirm";

    /// <summary>Names that a verb takes beside its own.</summary>
    public static string[] Of(VerbDescription verb) => verb.Verb.ChangesState ? [Json, WhatIf, Confirm] : [Json];

    /// <summary>One sentence of help.</summary>
    public static string HelpOf(string name) => name switch
    {
        Json => "Prints an array of JSON objects with the Windows property names instead of a table.",
        WhatIf => "Says what would be done, and does nothing.",
        _ => "Asks before doing it; -Confirm:false never asks.",
    };
}
