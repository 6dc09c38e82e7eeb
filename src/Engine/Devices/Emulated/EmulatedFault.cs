namespace TierSpaces.Engine.Devices.Emulated;

/// <summary>Faults that an emulated disk shows. The default is none.</summary>
public sealed record EmulatedFault
{
    /// <summary>Unit of the shares below.</summary>
    public const int Million = 1_000_000;

    /// <summary>Slowest factor.</summary>
    public const int SlowFactorMax = 1_000_000;

    /// <summary>No fault.</summary>
    public static EmulatedFault None { get; } = new();

    /// <summary>Reads in a million that fail with EIO.</summary>
    public int ReadErrorsPerMillion { get; init; }

    /// <summary>Writes and flushes in a million that fail with EIO.</summary>
    public int WriteErrorsPerMillion { get; init; }

    /// <summary>Reads in a million that come back with one bit changed; the image itself keeps its content.</summary>
    public int BitFlipsPerMillion { get; init; }

    /// <summary>First byte of a range in which every read and write fails with EIO.</summary>
    public long ErrorOffset { get; init; }

    /// <summary>Length of that range in bytes; 0 for none.</summary>
    public long ErrorLength { get; init; }

    /// <summary>Factor by which every request takes longer, 1 to a million.</summary>
    public int SlowFactor { get; init; } = 1;

    /// <summary>Requests are taken and not answered; they are done when this ends.</summary>
    public bool IsHung { get; init; }

    /// <summary>The disk is gone.</summary>
    public bool IsPulled { get; init; }
}
