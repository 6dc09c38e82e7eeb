using System.Net.Sockets;
using System.Text;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Supervision;

/// <summary>Sends messages to systemd (the sd_notify protocol). Does nothing where no service manager asked.</summary>
internal static class ServiceManager
{
    /// <summary>Whether there is one.</summary>
    public static bool IsThere => Address is not null;

    private static string? Address => Environment.GetEnvironmentVariable("NOTIFY_SOCKET") is { Length: > 0 } path ? path : null;

    /// <summary>Sends one state, for example <c>READY=1</c>.</summary>
    /// <param name="state">The state: lines of a name and a value.</param>
    /// <param name="descriptor">A descriptor beside it; negative: none.</param>
    /// <returns>False: it was not sent.</returns>
    public static bool TryNotify(string state, int descriptor = -1)
    {
        if (Address is not { } path)
        {
            return false;
        }

        try
        {
            // A leading @ means the abstract namespace, which .NET spells with a zero byte.
            using Socket socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
            socket.Connect(new UnixDomainSocketEndPoint(path[0] == '@' ? "\0" + path[1..] : path));
            return DescriptorMessages.Send((int)socket.Handle, Encoding.UTF8.GetBytes(state), descriptor) > 0;
        }
        catch (SocketException e)
        {
            HostLog.Write($"the service manager at {path} does not take a message: {e.Message}");
            return false;
        }
    }
}
