using System.Buffers.Binary;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>
/// The option phase of one connection: fixed newstyle, without TLS. Options are taken one after the other, each whole
/// in memory before it is looked at and answered before the next. Ends with terms, or with null when the connection is
/// to be closed.
/// </summary>
internal sealed class NbdNegotiation(NbdServer server, ILaneSocket socket, NbdReceiver receiver, NbdOptionReplies replies)
{
    private const int OptionHeader = 16;
    private const NbdHandshakeFlags Offered = NbdHandshakeFlags.FixedNewstyle | NbdHandshakeFlags.NoZeroes;

    private static ReadOnlySpan<byte> AllocationContext => "base:allocation"u8;

    private NbdHandshakeFlags _flags;
    private bool _structuredReplies;
    private NbdExport? _contextExport;   // whose base:allocation the client has selected
    private NbdTerms? _terms;            // set by the option that enters transmission
    private bool _aborted;

    internal async LaneTask<NbdTerms?> Run()
    {
        replies.Greet(Offered);
        if (!await replies.Send() || !await receiver.Await(4) || !TakeFlags())
        {
            return null;
        }

        for (int options = 0; options < NbdLimits.MaxOptions; options++)
        {
            if (!await TakeOption())
            {
                return null;
            }

            if (_terms is not null)
            {
                return _terms;
            }
        }

        server.Report(socket, $"more than {NbdLimits.MaxOptions} options");
        return null;
    }

    private bool TakeFlags()
    {
        _flags = (NbdHandshakeFlags)BinaryPrimitives.ReadUInt32BigEndian(receiver.Peek(4));
        receiver.Consume(4);
        return (_flags & ~Offered) == 0 || Fail($"handshake flags 0x{(uint)_flags:x} that were not offered");
    }

    /// <summary>False when the connection is to be closed.</summary>
    private async LaneTask<bool> TakeOption()
    {
        if (!await receiver.Await(OptionHeader))
        {
            return false;
        }

        ulong magic = BinaryPrimitives.ReadUInt64BigEndian(receiver.Peek(8));
        uint option = BinaryPrimitives.ReadUInt32BigEndian(receiver.Peek(12)[8..]);
        uint length = BinaryPrimitives.ReadUInt32BigEndian(receiver.Peek(OptionHeader)[12..]);
        if (magic != NbdMagic.Option || length > NbdLimits.MaxOptionData)
        {
            return Fail(magic != NbdMagic.Option ? "an option without the protocol's mark" : $"an option of {length} bytes");
        }

        if (!await receiver.Await(OptionHeader + (int)length))
        {
            return false;
        }

        if ((NbdOption)option == NbdOption.List && length == 0 && !await ListExports(option))
        {
            return false;
        }

        bool goesOn = Answer(option, receiver.Peek(OptionHeader + (int)length)[OptionHeader..]);
        receiver.Consume(OptionHeader + (int)length);
        return await replies.Send() && goesOn && !_aborted;
    }

    private bool Answer(uint option, ReadOnlySpan<byte> data)
    {
        if ((_flags & NbdHandshakeFlags.FixedNewstyle) == 0 && (NbdOption)option != NbdOption.ExportName)
        {
            return Fail($"option {option} from a client without fixed newstyle");
        }

        switch ((NbdOption)option)
        {
            case NbdOption.ExportName:
                return EnterByName(data);
            case NbdOption.Abort:
                replies.Ack(option);
                _aborted = true;
                return true;
            case NbdOption.List:
                AckEmpty(option, data);
                return true;
            case NbdOption.StartTls:
                replies.Error(option, NbdOptionReply.Unsupported, "this server has no TLS"u8);
                return true;
            case NbdOption.Info or NbdOption.Go:
                Describe(option, data);
                return true;
            case NbdOption.StructuredReply:
                _structuredReplies |= AckEmpty(option, data);
                return true;
            case NbdOption.ListMetaContext or NbdOption.SetMetaContext:
                MetaContexts(option, data);
                return true;
            default:
                replies.Error(option, NbdOptionReply.Unsupported, "unknown option"u8);
                return true;
        }
    }

    private bool AckEmpty(uint option, ReadOnlySpan<byte> data)
    {
        if (!data.IsEmpty)
        {
            replies.Error(option, NbdOptionReply.Invalid, "this option has no data"u8);
            return false;
        }

        replies.Ack(option);
        return true;
    }

    private async LaneTask<bool> ListExports(uint option)
    {
        for (int i = 0; i < server.Exports.Count; i++)
        {
            replies.Server(option, server.Exports[i]);
            if (!replies.HasRoomForExport && !await replies.Send())
            {
                return false;
            }
        }

        return true;
    }

    private bool EnterByName(ReadOnlySpan<byte> name)
    {
        if (server.Find(name) is not { } export)
        {
            return Fail("an export that is not here");   // EXPORT_NAME has no error reply
        }

        Enter(export);
        replies.EnterByName(_terms!.Geometry.Length, FlagsOf(export), (_flags & NbdHandshakeFlags.NoZeroes) == 0);
        return true;
    }

    private void Enter(NbdExport export) =>
        _terms = new NbdTerms(export, export.Store.Geometry, _structuredReplies, _structuredReplies && _contextExport == export);

    /// <summary>INFO and GO: name, then the kinds of information wanted; export and block sizes are always told.</summary>
    private void Describe(uint option, ReadOnlySpan<byte> data)
    {
        NbdOptionReader reader = new(data);
        bool wantsName = false, wantsDescription = false;
        bool isValid = reader.TryReadString(out ReadOnlySpan<byte> name) & reader.TryReadUInt16(out ushort kinds);
        for (int i = 0; isValid && i < kinds; i++)
        {
            isValid = reader.TryReadUInt16(out ushort kind);
            wantsName |= (NbdInfo)kind == NbdInfo.Name;
            wantsDescription |= (NbdInfo)kind == NbdInfo.Description;
        }

        if (!isValid || !reader.IsAtEnd)
        {
            replies.Error(option, NbdOptionReply.Invalid, "malformed information request"u8);
        }
        else if (server.Find(name) is not { } export)
        {
            replies.Error(option, NbdOptionReply.Unknown, "no export of that name"u8);
        }
        else
        {
            Describe(option, export, wantsName, wantsDescription);
        }
    }

    private void Describe(uint option, NbdExport export, bool wantsName, bool wantsDescription)
    {
        StoreGeometry geometry = export.Store.Geometry;
        replies.InfoExport(option, geometry.Length, FlagsOf(export));
        replies.InfoBlockSize(option, geometry.BlockSize, Math.Max(geometry.BlockSize, 4096), NbdLimits.MaxPayload);
        if (wantsName)
        {
            replies.InfoText(option, NbdInfo.Name, export.NameBytes);
        }

        if (wantsDescription)
        {
            replies.InfoText(option, NbdInfo.Description, export.DescriptionBytes);
        }

        replies.Ack(option);
        if ((NbdOption)option == NbdOption.Go)
        {
            Enter(export);
        }
    }

    private void MetaContexts(uint option, ReadOnlySpan<byte> data)
    {
        bool selects = (NbdOption)option == NbdOption.SetMetaContext;
        if (selects)
        {
            _contextExport = null;   // also when this one fails
        }

        NbdOptionReader reader = new(data);
        if (!_structuredReplies)
        {
            replies.Error(option, NbdOptionReply.Invalid, "metadata contexts need structured replies"u8);
        }
        else if (!reader.TryReadString(out ReadOnlySpan<byte> name) || !TryMatch(ref reader, selects, out bool matches))
        {
            replies.Error(option, NbdOptionReply.Invalid, "malformed metadata context request"u8);
        }
        else if (server.Find(name) is not { } export)
        {
            replies.Error(option, NbdOptionReply.Unknown, "no export of that name"u8);
        }
        else
        {
            if (matches)
            {
                replies.MetaContext(option, selects ? NbdStoreCalls.AllocationContextId : 0, AllocationContext);
                _contextExport = selects ? export : _contextExport;
            }

            replies.Ack(option);
        }
    }

    /// <summary>Whether any query asks for base:allocation; no query lists everything, "base:" lists its namespace.</summary>
    private static bool TryMatch(ref NbdOptionReader reader, bool selects, out bool matches)
    {
        matches = false;
        if (!reader.TryReadUInt32(out uint queries))
        {
            return false;
        }

        matches = queries == 0 && !selects;
        for (; queries > 0; queries--)
        {
            if (!reader.TryReadString(out ReadOnlySpan<byte> query))
            {
                return false;
            }

            matches |= query.SequenceEqual(AllocationContext) || (!selects && query.SequenceEqual("base:"u8));
        }

        return reader.IsAtEnd;
    }

    /// <summary>FAST_ZERO is absent: a store cannot tell beforehand whether zeroing will be quick.</summary>
    private NbdTransmissionFlags FlagsOf(NbdExport export)
    {
        NbdTransmissionFlags flags = NbdTransmissionFlags.HasFlags | NbdTransmissionFlags.SendFlush | NbdTransmissionFlags.SendFua
            | NbdTransmissionFlags.CanMultiConn | NbdTransmissionFlags.SendCache
            | (_structuredReplies ? NbdTransmissionFlags.SendDf : 0);
        return flags | (export.IsReadOnly
            ? NbdTransmissionFlags.ReadOnly
            : NbdTransmissionFlags.SendTrim | NbdTransmissionFlags.SendWriteZeroes);
    }

    private bool Fail(string reason)
    {
        server.Report(socket, reason);
        return false;
    }
}
