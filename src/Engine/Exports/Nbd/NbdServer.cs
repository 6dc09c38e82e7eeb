using System.Net;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>
/// An NBD server on one lane: the exports of its listeners and the connections to them. Every member is called on
/// that lane. Nothing a client sends reaches beyond its own connection, except what it asks of the store.
/// </summary>
public sealed class NbdServer
{
    private const long WatchIntervalNs = 500_000_000;
    private const long RejectionNoticeNs = 1_000_000_000;

    private readonly List<NbdExport> _exports = [];
    private readonly List<NbdSession> _sessions = [];
    private readonly List<ILaneListener> _listeners = [];
    private FreeList<NbdRequest> _freeRequests;
    private readonly NbdSignal _sessionEnded = new();
    private readonly Action<string>? _notice;
    private long _nextRejectionNs;
    private bool _isWatching;
    private bool _isClosed;

    /// <summary>A server without exports.</summary>
    /// <param name="lane">Lane of the stores it will serve.</param>
    /// <param name="limits">Limits on the resources that clients may hold; the defaults when null.</param>
    /// <param name="budget">Payload bytes shared with the other servers of the lane; one of its own when null.</param>
    /// <param name="notice">Called with a sentence when a connection is refused or dropped because of its client.</param>
    /// <exception cref="ArgumentOutOfRangeException">A limit is outside its range.</exception>
    public NbdServer(ILane lane, NbdLimits? limits = null, NbdBudget? budget = null, Action<string>? notice = null)
    {
        Lane = lane;
        Limits = limits ?? new NbdLimits();
        Limits.Validate();
        Budget = budget ?? new NbdBudget();
        _notice = notice;
    }

    /// <summary>The exports, in the order they were added.</summary>
    public IReadOnlyList<NbdExport> Exports => _exports;

    /// <summary>Connections now, those still in the handshake included.</summary>
    public int Connections => _sessions.Count;

    /// <summary>The clients that have chosen an export, in the order in which they came.</summary>
    public LanePeer[] Clients => [.. _sessions.Where(static session => session.IsTransmitting).Select(static session => session.Peer)];

    /// <summary>Connections refused because there were too many, of this server or of descriptors of the process.</summary>
    public long ConnectionsRefused { get; private set; }

    /// <summary>Connections dropped for breaking the protocol or a limit of time.</summary>
    public long ConnectionsDropped { get; private set; }

    internal ILane Lane { get; }

    internal NbdLimits Limits { get; }

    internal NbdBudget Budget { get; }

    /// <summary>Listens on a Unix socket.</summary>
    /// <exception cref="IOException">The path is taken, too long or not writable.</exception>
    public ILaneListener ListenUnix(ILaneNetwork network, string path) => Keep(network.ListenUnix(path, Accept, RefuseForDescriptors));

    /// <summary>Listens on a TCP endpoint.</summary>
    /// <exception cref="IOException">The address is taken or not local.</exception>
    public ILaneListener ListenTcp(ILaneNetwork network, IPEndPoint endpoint) => Keep(network.ListenTcp(endpoint, Accept, RefuseForDescriptors));

    /// <summary>Serves an export from now on.</summary>
    /// <exception cref="ArgumentException">An export of that name is served already.</exception>
    public void Add(NbdExport export)
    {
        if (Find(export.NameBytes) is not null)
        {
            throw new ArgumentException($"An export named '{export.Name}' is served already; names are unique on one listener.");
        }

        _exports.Add(export);
    }

    /// <summary>
    /// Serves the export no more: connections to it take no further request and end when those they took are answered.
    /// Completes when the last of them has ended.
    /// </summary>
    public async LaneTask Remove(NbdExport export)
    {
        _exports.Remove(export);
        Drain(session => session.Serves(export));
        while (_sessions.Exists(session => session.Serves(export)))
        {
            await _sessionEnded.Next();
        }
    }

    /// <summary>Stops listening, ends every connection as <see cref="Remove"/> does and completes after the last.</summary>
    public async LaneTask Close()
    {
        _isClosed = true;
        _listeners.ForEach(listener => listener.Close());
        _listeners.Clear();
        _exports.Clear();
        Drain(_ => true);
        while (_sessions.Count > 0)
        {
            await _sessionEnded.Next();
        }
    }

    /// <summary>Serves a connection that was made.</summary>
    public void Accept(ILaneSocket socket)
    {
        if (_isClosed || !MakeRoom())
        {
            ConnectionsRefused++;
            _notice?.Invoke($"NBD client {socket.Peer}: refused, there are {_sessions.Count} connections (at most {Limits.MaxConnections}).");
            socket.Close();
            return;
        }

        NbdSession session = new(this, socket);
        _sessions.Add(session);
        Serve(session).Forget();
        if (!_isWatching)
        {
            _isWatching = true;
            Watch().Forget();
        }
    }

    /// <summary>The export of that name or identity; the empty name means the only one there is.</summary>
    internal NbdExport? Find(ReadOnlySpan<byte> name)
    {
        if (name.IsEmpty)
        {
            return _exports.Count == 1 ? _exports[0] : null;
        }

        foreach (NbdExport export in _exports)
        {
            if (export.Answers(name))
            {
                return export;
            }
        }

        return null;
    }

    internal bool IsServing(NbdExport export) => _exports.Contains(export);

    internal void Report(ILaneSocket socket, string reason, Exception? failure = null)
    {
        ConnectionsDropped++;
        _notice?.Invoke($"NBD client {socket.Peer}: {reason}; the connection is closed.{(failure is null ? "" : $" {failure}")}");
    }

    /// <summary>
    /// The process has hardly any descriptor left: the connection is closed already. A client that tries again and again is named once in a while.
    /// </summary>
    private void RefuseForDescriptors(string peer)
    {
        ConnectionsRefused++;
        if (Lane.NowNs < _nextRejectionNs)
        {
            return;
        }

        _nextRejectionNs = Lane.NowNs + RejectionNoticeNs;
        _notice?.Invoke(
            $"NBD client {(peer.Length > 0 ? peer : "unknown")}: refused, the descriptors of this process are used up to its reserve ({ConnectionsRefused} connections refused so far). "
            + "Raise the limit of open files, or end clients.");
    }

    internal NbdRequest RentRequest() => _freeRequests.Take() ?? new NbdRequest();

    internal void ReturnRequest(NbdRequest request) => _freeRequests.Return(request);

    private ILaneListener Keep(ILaneListener listener)
    {
        _listeners.Add(listener);
        return listener;
    }

    /// <summary>Closes the oldest connection that has not chosen an export, if all places are taken.</summary>
    private bool MakeRoom()
    {
        if (_sessions.Count < Limits.MaxConnections)
        {
            return true;
        }

        NbdSession? oldest = _sessions.Find(session => session.IsInHandshake);
        oldest?.Abort();
        return oldest is not null;
    }

    private async LaneTask Serve(NbdSession session)
    {
        await session.Run();
        _sessions.Remove(session);
        _sessionEnded.Set();
    }

    private void Drain(Predicate<NbdSession> which)
    {
        foreach (NbdSession session in _sessions.FindAll(which))
        {
            session.Drain();
        }
    }

    /// <summary>Runs only while there are connections.</summary>
    private async LaneTask Watch()
    {
        while (_sessions.Count > 0)
        {
            await Lane.Delay(WatchIntervalNs);
            foreach (NbdSession session in _sessions.ToArray())
            {
                session.Watch(Lane.NowNs);
            }
        }

        _isWatching = false;
    }
}
