using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>
/// Terms that a client and the server have agreed on; constant for the life of the connection. Size and units are those the
/// store had when the client asked: a client sees a new size when it connects again.
/// </summary>
internal sealed record NbdTerms(NbdExport Export, StoreGeometry Geometry, bool StructuredReplies, bool AllocationContext)
{
    /// <summary>Returns the validation error of a request, from its header alone.</summary>
    internal NbdFault Check(in NbdRequestHeader request)
    {
        NbdCommand command = request.Command;
        if (command > NbdCommand.BlockStatus)
        {
            return NbdFault.UnknownCommand;
        }

        if ((request.Flags & ~FlagsOf(command)) != 0)
        {
            return NbdFault.UnknownFlag;
        }

        bool changes = command is NbdCommand.Write or NbdCommand.Trim or NbdCommand.WriteZeroes;
        if (changes && Export.IsReadOnly)
        {
            return NbdFault.ReadOnly;
        }

        if (command == NbdCommand.Flush)
        {
            return (request.Offset | request.Length) == 0 ? NbdFault.None : NbdFault.FlushOfRange;
        }

        NbdFault fault = CheckRange(request);
        return fault == NbdFault.None ? CheckKind(request) : fault;
    }

    private NbdFault CheckRange(in NbdRequestHeader request)
    {
        ulong length = (ulong)Geometry.Length;
        if (request.Offset > length || request.Length > length - request.Offset)
        {
            return request.Command is NbdCommand.Write or NbdCommand.WriteZeroes ? NbdFault.WritePastTheEnd : NbdFault.PastTheEnd;
        }

        ulong mask = (ulong)Geometry.SmallestRequest - 1;
        return ((request.Offset | request.Length) & mask) == 0 ? NbdFault.None : NbdFault.Unaligned;
    }

    private NbdFault CheckKind(in NbdRequestHeader request) => request.Command switch
    {
        NbdCommand.Read when request.Length > NbdLimits.MaxPayload => NbdFault.ReadTooLong,
        NbdCommand.BlockStatus when !AllocationContext => NbdFault.NoContext,
        NbdCommand.BlockStatus when request.Length == 0 => NbdFault.EmptyStatus,
        _ => NbdFault.None,
    };

    /// <summary>FUA is legal on everything once announced; the rest belongs to one command each.</summary>
    private NbdCommandFlags FlagsOf(NbdCommand command) => NbdCommandFlags.Fua | command switch
    {
        NbdCommand.Read when StructuredReplies => NbdCommandFlags.DontFragment,
        NbdCommand.WriteZeroes => NbdCommandFlags.NoHole,
        NbdCommand.BlockStatus => NbdCommandFlags.RequestOne,
        _ => NbdCommandFlags.None,
    };
}
