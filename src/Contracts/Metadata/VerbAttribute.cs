namespace TierSpaces.Contracts;

/// <summary>
/// Marks a request record as a verb. Cmdlet, command line and HTTP are all built from the record: a record that carries this
/// attribute and is named after its verb (<c>New-VirtualDisk</c> is <c>NewVirtualDiskRequest</c>) has all three faces.
/// </summary>
/// <param name="name">Verb and noun as Windows spells them.</param>
/// <param name="help">Purpose of the verb, one sentence.</param>
[AttributeUsage(AttributeTargets.Class, Inherited = false)]
public sealed class VerbAttribute(string name, string help) : Attribute
{
    /// <summary>Verb and noun, for example <c>New-VirtualDisk</c>.</summary>
    public string Name { get; } = name;

    /// <summary>Purpose of the verb, one sentence.</summary>
    public string Help { get; } = help;

    /// <summary>The parameter set taken when several fit; empty when there is only one set.</summary>
    public string DefaultSet { get; init; } = "";

    /// <summary>Whether it changes anything: then it has -WhatIf and -Confirm.</summary>
    public bool ChangesState { get; init; }

    /// <summary>Whether doing it twice is doing it once, so that it may be sent again when the answer was lost.</summary>
    public bool IsIdempotent { get; init; }

    /// <summary>Whether a lost answer must not be asked for again.</summary>
    public bool IsSentOnce => ChangesState && !IsIdempotent;

    /// <summary>Whether it destroys data or redundancy: then a person at a terminal is asked first.</summary>
    public bool Destroys { get; init; }

    /// <summary>Whether it is about the host itself, so that a missing one is not started for it.</summary>
    public bool StartsNoHost { get; init; }

    /// <summary>Name of the storage job that it waits for, whose progress is shown; empty for none.</summary>
    public string JobName { get; init; } = "";

    /// <summary>Work of the host after its user interrupts the verb, if the verb changes something and waits for no storage job.</summary>
    public string WhenInterrupted { get; init; } = "the host completes a change that it has begun.";

    /// <summary>Whether it starts or stops the host, which is then not asked what would be done.</summary>
    public bool IsAboutHost { get; init; }

    /// <summary>Class of the objects that its parameters FriendlyName and UniqueId name; empty for that of its noun.</summary>
    public string SelectedClass { get; init; } = "";

    /// <summary>Whether it answers in words only and writes no objects.</summary>
    public bool ReturnsNothing { get; init; }

    /// <summary>Whether Windows has no such verb.</summary>
    public bool IsOurs { get; init; }
}
