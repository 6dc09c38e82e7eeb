using System.Net.Sockets;
using System.Text;

namespace TierSpaces.Host.Serving;

/// <summary>Tells systemd that the host is ready (the sd_notify protocol). Does nothing where no service manager asked.</summary>
internal static class ServiceManager
{
    /// <summary>Sends one state, for example <c>READY=1</c>.</summary>
    public static void Notify(string state)
    {
        if (Environment.GetEnvironmentVariable("NOTIFY_SOCKET") is not { Length: > 0 } path)
        {
            return;
        }

        // A leading @ means the abstract namespace, which .NET spells with a zero byte.
        string address = path[0] == '@' ? "\0" + path[1..] : path;
        using Socket socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
        socket.SendTo(Encoding.UTF8.GetBytes(state), new UnixDomainSocketEndPoint(address));
    }
}
