namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>
/// Counters of the requests of the clients of one export. The lane alone writes them; any thread may read a field at any time and sees a value that
/// was true at some moment. An operation is counted when it completes, its bytes only when it succeeds.
/// </summary>
public sealed class NbdCounters
{
    /// <summary>Reads completed.</summary>
    public long Reads { get; private set; }

    /// <summary>Bytes read.</summary>
    public long BytesRead { get; private set; }

    /// <summary>Writes completed.</summary>
    public long Writes { get; private set; }

    /// <summary>Bytes written.</summary>
    public long BytesWritten { get; private set; }

    /// <summary>Flushes completed.</summary>
    public long Flushes { get; private set; }

    /// <summary>Trims completed.</summary>
    public long Unmaps { get; private set; }

    /// <summary>Bytes given back.</summary>
    public long BytesUnmapped { get; private set; }

    /// <summary>Zeroings completed.</summary>
    public long Zeroings { get; private set; }

    /// <summary>Bytes zeroed.</summary>
    public long BytesZeroed { get; private set; }

    /// <summary>Cache hints and status queries completed.</summary>
    public long Queries { get; private set; }

    /// <summary>Requests answered with an error, refused ones included.</summary>
    public long Errors { get; private set; }

    /// <summary>Connections that entered transmission since the start.</summary>
    public long ConnectionsMade { get; private set; }

    /// <summary>Connections in transmission now.</summary>
    public long Connections { get; private set; }

    internal void NoteConnected()
    {
        ConnectionsMade++;
        Connections++;
    }

    internal void NoteDisconnected() => Connections--;

    internal void Count(NbdCommand command, long bytes, bool succeeded)
    {
        Errors += succeeded ? 0 : 1;
        bytes = succeeded ? bytes : 0;
        switch (command)
        {
            case NbdCommand.Read:
                Reads++;
                BytesRead += bytes;
                break;
            case NbdCommand.Write:
                Writes++;
                BytesWritten += bytes;
                break;
            case NbdCommand.Flush:
                Flushes++;
                break;
            case NbdCommand.Trim:
                Unmaps++;
                BytesUnmapped += bytes;
                break;
            case NbdCommand.WriteZeroes:
                Zeroings++;
                BytesZeroed += bytes;
                break;
            default:
                Queries++;
                break;
        }
    }
}
