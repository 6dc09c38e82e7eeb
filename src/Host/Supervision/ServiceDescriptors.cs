using System.Globalization;
using System.Net.Sockets;
using System.Text;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Supervision;

/// <summary>
/// Descriptors in the store of systemd (the sd_notify protocol: FDSTORE, FDSTOREREMOVE). systemd keeps them while the service is started again, and passes them
/// to the next process from descriptor 3 on; it drops them when the service is stopped. A name is replaced by a removal and an addition.
/// </summary>
internal sealed class ServiceDescriptors : IKeptDescriptors
{
    /// <summary>Environment variable of the unit by which an administrator says that the unit has a store; systemd 254 and later say it with FDSTORE.</summary>
    public const string Variable = "TIERSPACES_FD_STORE";

    private const int First = 3;
    private const int GetFlags = 1;      // F_GETFD
    private const int SetFlags = 2;      // F_SETFD
    private const int CloseOnExec = 1;
    private readonly string _socket;
    private readonly Dictionary<string, int> _passed;   // by name; what this process was given, until it is taken

    private ServiceDescriptors(string socket, Dictionary<string, int> passed) => (_socket, _passed) = (socket, passed);

    /// <summary>Returns the store of the service that this process is; null where the service manager has none for it.</summary>
    public static ServiceDescriptors? OfThisProcess() =>
        Environment.GetEnvironmentVariable("NOTIFY_SOCKET") is { Length: > 0 } socket && HasStore() ? new ServiceDescriptors(socket, Passed()) : null;

    /// <inheritdoc/>
    public bool TryKeep(string id, int descriptor)
    {
        Drop(id);
        return Send($"FDSTORE=1\nFDPOLL=0\nFDNAME={NameOf(id)}", descriptor);   // without polling: a connection that has an error is still ours to end
    }

    /// <inheritdoc/>
    public int Take(string id) => _passed.Remove(NameOf(id), out int descriptor) ? descriptor : -1;

    /// <inheritdoc/>
    public void Drop(string id)
    {
        if (_passed.Remove(NameOf(id), out int descriptor))
        {
            _ = Libc.Close(descriptor);
        }

        _ = Send($"FDSTOREREMOVE=1\nFDNAME={NameOf(id)}", -1);
    }

    /// <summary>Names of descriptors are printable ASCII without colons.</summary>
    private static string NameOf(string id) => $"disk-{id.Trim('{', '}')}";

    private static bool HasStore() => IsPositive("FDSTORE") || IsPositive(Variable);

    private static bool IsPositive(string variable) =>
        int.TryParse(Environment.GetEnvironmentVariable(variable), NumberStyles.None, CultureInfo.InvariantCulture, out int value) && value > 0;

    private static Dictionary<string, int> Passed()
    {
        Dictionary<string, int> passed = [];
        bool isOurs = Environment.GetEnvironmentVariable("LISTEN_PID") == Environment.ProcessId.ToString(CultureInfo.InvariantCulture);
        string[] names = isOurs ? (Environment.GetEnvironmentVariable("LISTEN_FDNAMES") ?? "").Split(':', StringSplitOptions.RemoveEmptyEntries) : [];
        for (int i = 0; i < names.Length; i++)
        {
            int descriptor = First + i;
            if (Libc.FileControl(descriptor, GetFlags, 0) is var flags && flags >= 0)
            {
                _ = Libc.FileControl(descriptor, SetFlags, flags | CloseOnExec);
                passed[names[i]] = descriptor;
            }
        }

        return passed;
    }

    private bool Send(string text, int descriptor)
    {
        try
        {
            using Socket socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
            socket.Connect(new UnixDomainSocketEndPoint(_socket[0] == '@' ? "\0" + _socket[1..] : _socket));
            return DescriptorMessages.Send((int)socket.Handle, Encoding.UTF8.GetBytes(text), descriptor) > 0;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
