using System.Text.Json;

namespace TierSpaces.Conformance;

/// <summary>One cmdlet as Windows documents it: a row of Facts/cmdlets.json.</summary>
public sealed record DocumentedCmdlet
{
    /// <summary>Whether it has -WhatIf and -Confirm.</summary>
    public bool ShouldProcess { get; init; }

    /// <summary>Parameter set when several fit; null when there is none.</summary>
    public string? DefaultSet { get; init; }

    /// <summary>Names of the documented parameter sets.</summary>
    public string[] Sets { get; init; } = [];

    /// <summary>Of AsJob, CimSession, ThrottleLimit, WhatIf and Confirm those it has.</summary>
    public string[] Common { get; init; } = [];

    /// <summary>Type names of what it returns.</summary>
    public string[] Outputs { get; init; } = [];

    /// <summary>Its parameters by name.</summary>
    public Dictionary<string, DocumentedParameter> Parameters { get; init; } = [];
}

/// <summary>One documented parameter.</summary>
public sealed record DocumentedParameter
{
    /// <summary>Name of the type, with [] for a list.</summary>
    public string Type { get; init; } = "";

    /// <summary>Its sets; empty means every set.</summary>
    public string[] Sets { get; init; } = [];

    /// <summary>Other names.</summary>
    public string[] Aliases { get; init; } = [];

    /// <summary>Accepted values; empty when they are not closed.</summary>
    public string[] Values { get; init; } = [];

    /// <summary>Whether it must be given in its sets.</summary>
    public bool Required { get; init; }

    /// <summary>Position, or null for a named parameter.</summary>
    public int? Position { get; init; }

    /// <summary>ByValue, ByPropertyName or null.</summary>
    public string? Pipeline { get; init; }

    /// <summary>Found on live hosts and used by scripts, but not on the pages.</summary>
    public bool Undocumented { get; init; }
}

/// <summary>One object class as Windows documents it: a row of Facts/objects.json.</summary>
public sealed record DocumentedClass
{
    /// <summary>Its base class.</summary>
    public string Base { get; init; } = "";

    /// <summary>Headings of the default table; empty when it has none.</summary>
    public string[] Columns { get; init; } = [];

    /// <summary>Properties it adds to its base class.</summary>
    public string[] Properties { get; init; } = [];

    /// <summary>Of properties that are a number with a name: names by number.</summary>
    public Dictionary<string, Dictionary<string, string>> Values { get; init; } = [];
}

/// <summary>The project's copy of the documented syntax.</summary>
public static class Documented
{
    private static readonly JsonSerializerOptions s_options = new() { PropertyNameCaseInsensitive = true };

    /// <summary>Cmdlets by name.</summary>
    public static Dictionary<string, DocumentedCmdlet> Cmdlets { get; } = Load<DocumentedCmdlet>("cmdlets.json");

    /// <summary>Object classes by name.</summary>
    public static Dictionary<string, DocumentedClass> Classes { get; } = Load<DocumentedClass>("objects.json");

    private static Dictionary<string, T> Load<T>(string file) => JsonSerializer.Deserialize<Dictionary<string, T>>(
        File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "Facts", file)), s_options)!;
}
