namespace TierSpaces.Fuzz;

/// <summary>
/// One parser of untrusted bytes. It describes its result for every input in a few words; an input with new words becomes
/// a seed. An exception that escapes is a crash; documented errors are words.
/// </summary>
/// <param name="Name">Its name on the command line.</param>
/// <param name="Seeds">Valid inputs, at least one.</param>
/// <param name="Run">Parses an input, which it must not change.</param>
internal sealed record FuzzTarget(string Name, IReadOnlyList<byte[]> Seeds, Func<byte[], string> Run)
{
    /// <summary>Makes checksums and lengths right again, so that what is behind them is reached; null where there are none.</summary>
    public Action<byte[]>? Reseal { get; init; }

    /// <summary>Managed bytes an execution may allocate whatever its input.</summary>
    public long AllocationBase { get; init; } = 64 << 10;

    /// <summary>Managed bytes it may allocate besides, for each byte of input.</summary>
    public int AllocationPerByte { get; init; } = 64;

    /// <summary>Share of the executions: 100 for what takes microseconds.</summary>
    public int Weight { get; init; } = 100;

    /// <summary>Whether the input always has the length of its seed.</summary>
    public bool IsFixedLength { get; init; }

    /// <summary>Longest input, in bytes.</summary>
    public int MaxLength { get; init; } = 8192;

    /// <summary>Words that mean something to the parser; empty for binary formats.</summary>
    public IReadOnlyList<byte[]> Words { get; init; } = [];
}

/// <summary>Report of a target on an answer that is no exception but wrong all the same.</summary>
internal sealed class WrongAnswerException(string what) : Exception(what);
