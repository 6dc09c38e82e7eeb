using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>
/// The slot of one request from receipt to the end of its reply. Slots are shared by the connections of a server and
/// used again; a suspended store call continues from the slot, so a request costs no allocation.
/// </summary>
internal sealed class NbdRequest
{
    private readonly Action _resume;
    private NbdTransmission? _owner;
    private LaneTask<IoError>.Awaiter _pending;   // valid between Await and Resume

    internal NbdRequest() => _resume = Resume;

    internal NbdRequestHeader Header;

    /// <summary>Payload memory; length 0 when the request has none.</summary>
    internal IoBuffer Buffer;

    /// <summary>Bytes charged to connection and budget.</summary>
    internal int Charge;

    /// <summary>Whether they come from the reserve of the budget.</summary>
    internal bool IsSmall;

    /// <summary>Which part of a request it is; the header of a part is its own.</summary>
    internal NbdPartKind Part { get; set; }

    /// <summary>Whether it is a part of a request.</summary>
    internal bool IsPart => Part != NbdPartKind.None;

    /// <summary>Whether it is the first part of a request.</summary>
    internal bool IsFirstPart => (Part & NbdPartKind.First) != 0;

    /// <summary>Whether it is the last part of a request.</summary>
    internal bool IsLastPart => (Part & NbdPartKind.Last) != 0;

    /// <summary>Bytes of <see cref="Buffer"/> that a successful reply carries.</summary>
    internal int ReplyBytes;

    /// <summary>States found by a status query.</summary>
    internal List<StoreExtent> Extents { get; } = [];

    /// <summary>Gives it the header of a part.</summary>
    internal void Take(in NbdRequestHeader header) => Header = header;

    internal NbdCommand Command => Header.Command;

    internal long Offset => (long)Header.Offset;

    internal long Length => Header.Length;

    internal bool Has(NbdCommandFlags flag) => (Header.Flags & flag) != 0;

    internal WriteFlags WriteFlags =>
        (Has(NbdCommandFlags.Fua) ? WriteFlags.ForceUnitAccess : WriteFlags.None)
        | (Has(NbdCommandFlags.NoHole) ? WriteFlags.NoHole : WriteFlags.None);

    /// <summary>Continues in the owner when the store call has ended.</summary>
    internal void Await(NbdTransmission owner, LaneTask<IoError>.Awaiter pending)
    {
        _owner = owner;
        _pending = pending;
        pending.UnsafeOnCompleted(_resume);
    }

    private void Resume()
    {
        NbdTransmission owner = _owner!;
        LaneTask<IoError>.Awaiter pending = _pending;
        _owner = null;
        _pending = default;
        IoError error = ResultOf(pending, out RequestException? failure);
        owner.EndCall(this, error, failure);
    }

    /// <summary>The result of a store call; a call that changed nothing before it failed gives an I/O error and what it threw.</summary>
    /// <exception cref="NbdStoreException">The store ended the call with another exception.</exception>
    internal static IoError ResultOf(LaneTask<IoError>.Awaiter call, out RequestException? failure)
    {
        try
        {
            failure = null;
            return call.GetResult();
        }
        catch (RequestException thrown)
        {
            failure = thrown;
            return IoError.Io;
        }
        catch (Exception thrown) when (RequestException.MayContain(thrown))
        {
            throw new NbdStoreException(thrown);
        }
    }
}
