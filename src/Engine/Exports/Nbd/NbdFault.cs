using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>Reason why a request is refused, or its error in the store.</summary>
internal enum NbdFault : byte
{
    None,
    UnknownCommand,
    UnknownFlag,
    ReadOnly,
    PastTheEnd,
    WritePastTheEnd,
    Unaligned,
    ReadTooLong,
    FlushOfRange,
    NoContext,
    EmptyStatus,
    Io,
    NoSpace,
    NoMemory,
    NotSupported,
    ShutDown,
}

/// <summary>Faults as the protocol and as people see them.</summary>
internal static class NbdFaults
{
    /// <summary>
    /// Outcome of a store call; everything a client cannot act upon is an input/output error to it. The range was checked before, so a store that refuses it
    /// has a fault below.
    /// </summary>
    internal static NbdFault Of(IoError error) => error switch
    {
        IoError.None => NbdFault.None,
        IoError.NotPermitted or IoError.ReadOnly => NbdFault.ReadOnly,
        IoError.NoSpace => NbdFault.NoSpace,
        IoError.NoMemory => NbdFault.NoMemory,
        IoError.NotSupported => NbdFault.NotSupported,
        IoError.ShutDown => NbdFault.ShutDown,
        _ => NbdFault.Io,
    };

    internal static NbdErrno Errno(NbdFault fault) => fault switch
    {
        NbdFault.None => NbdErrno.None,
        NbdFault.ReadOnly => NbdErrno.Permission,
        NbdFault.WritePastTheEnd or NbdFault.NoSpace => NbdErrno.NoSpace,
        NbdFault.Io => NbdErrno.Io,
        NbdFault.NoMemory => NbdErrno.NoMemory,
        NbdFault.NotSupported => NbdErrno.NotSupported,
        NbdFault.ShutDown => NbdErrno.ShutDown,
        _ => NbdErrno.Invalid,
    };

    /// <summary>At most <see cref="MaxMessage"/> bytes.</summary>
    internal static ReadOnlySpan<byte> Message(NbdFault fault) => fault switch
    {
        NbdFault.UnknownCommand => "unknown command"u8,
        NbdFault.UnknownFlag => "a flag that this command does not take"u8,
        NbdFault.ReadOnly => "the export is read-only"u8,
        NbdFault.PastTheEnd or NbdFault.WritePastTheEnd => "the range ends past the end of the export"u8,
        NbdFault.Unaligned => "offset and length must be multiples of the minimum block size"u8,
        NbdFault.ReadTooLong => "the read is longer than the maximum block size"u8,
        NbdFault.FlushOfRange => "a flush has offset and length 0"u8,
        NbdFault.NoContext => "no metadata context was negotiated"u8,
        NbdFault.EmptyStatus => "a status query needs a length"u8,
        NbdFault.NoSpace => "no space left in the pool or below it"u8,
        NbdFault.NoMemory => "out of memory"u8,
        NbdFault.NotSupported => "not supported by the storage"u8,
        NbdFault.ShutDown => "the export is being shut down"u8,
        _ => "the storage could not complete the request"u8,
    };

    internal const int MaxMessage = 64;
}
