using System.Text;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>
/// A store under a name. It belongs to the lane of its store; servers on that lane (one per listener) may share it,
/// so pausing it pauses it for every client, whichever way they came.
/// </summary>
public sealed class NbdExport
{
    private readonly byte[] _identity;   // the name that never changes
    private readonly List<IExportClient> _clients = [];
    private readonly NbdSignal _idle = new();
    private int _running;       // calls inside the store
    private int _suspensions;   // Suspend without its Resume

    /// <summary>An export of <paramref name="store"/>.</summary>
    /// <param name="uniqueId">Identity that outlives renaming.</param>
    /// <param name="name">Name clients ask for: 1 to 4096 bytes of UTF-8.</param>
    /// <param name="description">Text shown by listing clients: at most 4096 bytes of UTF-8.</param>
    /// <param name="store">Store that is served.</param>
    /// <param name="isReadOnly">Whether writing, trimming and zeroing are refused.</param>
    /// <exception cref="ArgumentException">Name or description outside its range.</exception>
    public NbdExport(Guid uniqueId, string name, string description, IBlockStore store, bool isReadOnly)
    {
        UniqueId = uniqueId;
        _identity = Encoding.ASCII.GetBytes(IdentityOf(uniqueId));
        Name = name;
        Store = store;
        IsReadOnly = isReadOnly;
        NameBytes = Encode(name, 1, nameof(name));
        DescriptionBytes = Encode(description, 0, nameof(description));
    }

    /// <summary>Identity that outlives renaming.</summary>
    public Guid UniqueId { get; }

    /// <summary>Name clients ask for, and the one that listing clients see.</summary>
    public string Name { get; private set; }

    /// <summary>Store that is served.</summary>
    public IBlockStore Store { get; }

    /// <summary>Whether writing, trimming and zeroing are refused.</summary>
    public bool IsReadOnly { get; }

    /// <summary>Counters of the clients' requests.</summary>
    public NbdCounters Counters { get; } = new();

    /// <summary>Whether requests wait until <see cref="Resume"/>.</summary>
    public bool IsSuspended => _suspensions > 0;

    /// <summary>Traces that record its requests now, see <see cref="RequestTrace"/>.</summary>
    internal int Traces { get; private set; }

    internal byte[] NameBytes { get; private set; }

    internal byte[] DescriptionBytes { get; }

    /// <summary>Second name of an export, which it keeps when it is renamed: its identity in 32 hexadecimal digits.</summary>
    public static string IdentityOf(Guid uniqueId) => uniqueId.ToString("N");

    /// <summary>Gives the export another name. Connections stay; clients that connect from now on ask for the new name or for its identity.</summary>
    /// <exception cref="ArgumentException">Name outside its range; the export keeps its name.</exception>
    public void Rename(string name)
    {
        NameBytes = Encode(name, 1, nameof(name));
        Name = name;
    }

    /// <summary>
    /// Takes no further request from any client and completes when none is inside the store. Connections stay, new
    /// ones may be made, their requests wait. Calls nest: each needs its <see cref="Resume"/>.
    /// </summary>
    public async LaneTask Suspend()
    {
        _suspensions++;
        while (_running > 0)
        {
            await _idle.Next();
        }
    }

    /// <summary>Undoes one <see cref="Suspend"/>.</summary>
    /// <exception cref="InvalidOperationException">The export is not suspended.</exception>
    public void Resume()
    {
        if (_suspensions == 0)
        {
            throw new InvalidOperationException($"Export '{Name}' is resumed without having been suspended.");
        }

        if (--_suspensions == 0)
        {
            foreach (IExportClient client in _clients)
            {
                client.Wake();
            }
        }
    }

    /// <summary>Whether a client that asks for a name means this export.</summary>
    internal bool Answers(ReadOnlySpan<byte> name) => name.SequenceEqual(NameBytes) || name.SequenceEqual(_identity);

    internal void Attach(IExportClient client)
    {
        _clients.Add(client);
        Counters.NoteConnected();
    }

    internal void Detach(IExportClient client)
    {
        _clients.Remove(client);
        Counters.NoteDisconnected();
    }

    /// <summary>A trace records its requests from now on.</summary>
    internal void BeginTrace() => Traces++;

    /// <summary>A trace has ended.</summary>
    internal void EndTrace() => Traces--;

    internal void BeginCall() => _running++;

    internal void EndCall()
    {
        if (--_running == 0 && IsSuspended)
        {
            _idle.Set();
        }
    }

    private static byte[] Encode(string text, int minimum, string parameter)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        if (bytes.Length < minimum || bytes.Length > 4096 || text.Contains('\0'))
        {
            throw new ArgumentException(
                $"The {parameter} of an export has {minimum} to 4096 bytes of UTF-8 without NUL; this one has {bytes.Length} bytes.",
                parameter);
        }

        return bytes;
    }
}
