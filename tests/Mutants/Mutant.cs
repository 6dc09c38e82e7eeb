namespace TierSpaces.Mutants;

/// <summary>Change that makes an engine wrong at one place.</summary>
public enum MutantKind
{
    /// <summary>A wait, flush, write or commit answers at once that all is well, and nothing is done.</summary>
    SkippedStep,

    /// <summary>A method takes its range locks no more.</summary>
    DroppedLock,

    /// <summary>A checksum is taken to be right whatever it is.</summary>
    BlindCheck,

    /// <summary>A number that goes up or down by one stays as it is.</summary>
    MissedCount,

    /// <summary>A method is called twice.</summary>
    RepeatedCall,

    /// <summary>A method that returns nothing is not called.</summary>
    SkippedCall,

    /// <summary>The answer of a question is yes, whatever it is.</summary>
    TakenForTrue,

    /// <summary>The answer of a question is no, a number is 0, whatever it is.</summary>
    TakenForFalse,

    /// <summary>A field keeps what it had.</summary>
    SkippedStore,
}

/// <summary>One place of the engine at which one rule of order can be taken out.</summary>
/// <param name="Kind">How.</param>
/// <param name="Type">Type that holds the method.</param>
/// <param name="Method">Method as it is called in the source.</param>
/// <param name="Callee">The method that it calls there.</param>
/// <param name="Index">Which of its calls of that callee, in the order of the compiled code; −1 for all of them.</param>
public sealed record Mutant(MutantKind Kind, string Type, string Method, string Callee, int Index)
{
    /// <summary>Name by which a mutant is chosen and listed.</summary>
    public string Name => Index < 0 ? $"{Type}.{Method}: {Callee}" : $"{Type}.{Method}: {Callee} #{Index + 1}";

    /// <summary>The mutant that a list names as "Type.Method: Callee #2".</summary>
    public static Mutant Parse(MutantKind kind, string name)
    {
        string[] words = name.Split(' ');
        string[] place = words[0].TrimEnd(':').Split('.');
        return new Mutant(kind, place[0], place[1], words[1], int.Parse(words[2][1..], System.Globalization.CultureInfo.InvariantCulture) - 1);
    }
}
