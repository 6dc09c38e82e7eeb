namespace TierSpaces.Engine.Devices.Emulated;

/// <summary>
/// Model of the time that a medium takes. It gets arrivals and completions in the medium's time, and says which request begins when and ends when. It
/// does no I/O and has no clock of its own.
/// </summary>
internal interface IMediumModel
{
    /// <summary>A request waits from now on.</summary>
    void Arrive(EmulatedRequest request);

    /// <summary>The next request that begins now, and when it will end; false when the medium is busy or nothing waits.</summary>
    bool TryBegin(long nowNs, out EmulatedRequest request, out long endNs);

    /// <summary>A request that had begun has ended.</summary>
    void End(EmulatedRequest request);

    /// <summary>
    /// Time at which <see cref="TryBegin"/> begins a waiting request although the one that it waits for has not been ended, because the lane of that is too
    /// late; <see cref="long.MaxValue"/> if none waits for another.
    /// </summary>
    long GoesOnAtNs { get; }
}

/// <summary>Operation that a request performs on the medium.</summary>
internal enum MediumOperation : byte
{
    Read,
    Write,

    /// <summary>A write that is on the medium when it ends.</summary>
    DurableWrite,
    Flush,
    Unmap,
}
