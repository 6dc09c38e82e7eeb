using System.Net.Sockets;
using TierSpaces.Contracts;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Serving;

/// <summary>
/// Makes the path of a socket free to be bound. A socket without a listener is a leftover and is removed. Anything else is kept, and
/// the path is rejected. The caller holds the lock of the host's folder, so no other host is about to bind it.
/// </summary>
internal static class SocketPath
{
    /// <summary>Looks at the path and removes a leftover.</summary>
    /// <exception cref="StorageException">Something else lives there.</exception>
    public static void Prepare(string path)
    {
        if (!Path.Exists(path))
        {
            return;
        }

        if (!IsSocket(path))
        {
            throw Taken(path, "something there is not a socket");
        }

        if (SomebodyListens(path))
        {
            throw Taken(path, "another process listens there");
        }

        File.Delete(path);
    }

    private static bool IsSocket(string path) => Libc.StatusOfPath(path, follow: true, out FileStatus status) == 0 && status.IsSocket;

    private static bool SomebodyListens(string path)
    {
        try
        {
            using Socket socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            socket.Connect(new UnixDomainSocketEndPoint(path));
            return true;
        }
        catch (SocketException e)
        {
            return e.SocketErrorCode != SocketError.ConnectionRefused;
        }
    }

    private static StorageException Taken(string path, string why) => new(
        StorageErrors.SocketTaken, $"'{path}': {why}.", $"Remove it, or choose another {HostPaths.HomeVariable}.", path);
}
