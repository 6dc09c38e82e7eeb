namespace TierSpaces.Contracts;

/// <summary>A documented cmdlet of Windows storage that is not in this version.</summary>
/// <param name="Name">Name, as Windows spells it.</param>
/// <param name="Reason">Reason, one sentence.</param>
/// <param name="Remedy">Advice, one sentence that begins with "Use".</param>
public sealed record AbsentCmdlet(string Name, string Reason, string Remedy)
{
    /// <summary>The answer to a person who types the name.</summary>
    public string Answer => $"{Name} is not in this version. {Reason} {Remedy}";
}
