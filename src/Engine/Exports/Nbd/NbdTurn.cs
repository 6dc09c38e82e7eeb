namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>Requests and bytes that a connection may start before the other connections of its lane are served.</summary>
internal sealed class NbdTurn
{
    private const int RequestsMax = 128;
    private const int BytesMax = 2 << 20;

    private int _requests;
    private int _bytes;

    /// <summary>Whether the others have their turn now.</summary>
    internal bool IsOver => _requests >= RequestsMax || _bytes >= BytesMax;

    /// <summary>A request with this much payload has started.</summary>
    internal void Note(int bytes)
    {
        _requests++;
        _bytes += bytes;
    }

    /// <summary>The others have had their turn.</summary>
    internal void Begin() => _requests = _bytes = 0;
}
