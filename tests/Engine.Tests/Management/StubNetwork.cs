using System.Net;
using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Listeners that exist in memory; a test connects by calling what they were given.</summary>
internal sealed class StubNetwork : ILaneNetwork
{
    internal Dictionary<string, Action<ILaneSocket>> Listening { get; } = [];

    public ILaneListener ListenUnix(string path, Action<ILaneSocket> accepted, Action<string>? rejected = null)
    {
        Listening.Add(path, accepted);
        return new Listener(this, path);
    }

    public ILaneListener ListenTcp(IPEndPoint endpoint, Action<ILaneSocket> accepted, Action<string>? rejected = null) => throw new NotSupportedException();

    public ILaneMessages OpenMessages(int descriptor, Action arrived) => throw new NotSupportedException();

    private sealed class Listener(StubNetwork network, string path) : ILaneListener
    {
        public string Address => $"unix:{path}";

        public void Close() => network.Listening.Remove(path);
    }
}
