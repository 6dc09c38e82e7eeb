using System.Net.Sockets;
using System.Text;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Supervision;

// Descriptors that outlive the host: connections to the kernel's FUSE end when the last process that has them open ends. The host hands copies over and
// the next host takes copies back, each in a connection of its own to a socket in the home: one request, one answer.
//
//   K id + descriptor   keep it under this name, instead of an earlier one     answer +
//   T id                a copy of it                                           answer + and the descriptor, or -
//   D id                forget it                                              answer +

/// <summary>Keeps descriptors for the host, in the process of its supervisor.</summary>
internal sealed class DescriptorKeeper : IDisposable
{
    /// <summary>Operation: keep the descriptor beside it.</summary>
    public const char Keep = 'K';

    /// <summary>Operation: hand a copy out.</summary>
    public const char Take = 'T';

    /// <summary>Operation: forget it.</summary>
    public const char Drop = 'D';

    /// <summary>Answer: done.</summary>
    public const byte Done = (byte)'+';

    /// <summary>Answer: there is none of that name.</summary>
    public const byte Unknown = (byte)'-';

    private const int PatienceMilliseconds = 5000;

    private readonly object _gate = new();
    private readonly Dictionary<string, int> _kept = [];
    private readonly Socket _listener;
    private volatile bool _isDisposed;

    private DescriptorKeeper(Socket listener) => _listener = listener;

    /// <summary>Descriptors that are kept.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _kept.Count;
            }
        }
    }

    /// <summary>Listens on a path, instead of a keeper that has ended, and serves on a thread of its own.</summary>
    /// <exception cref="SocketException">The path cannot be listened on.</exception>
    public static DescriptorKeeper Start(string path)
    {
        File.Delete(path);
        Socket listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));   // the home lets no other user in
        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        listener.Listen();
        DescriptorKeeper keeper = new DescriptorKeeper(listener);
        new Thread(keeper.Serve) { IsBackground = true, Name = "descriptor keeper" }.Start();
        return keeper;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _isDisposed = true;
        _listener.Dispose();
    }

    private void Serve()
    {
        while (!_isDisposed)
        {
            try
            {
                Socket client = _listener.Accept();
                new Thread(() => AnswerOne(client)) { IsBackground = true, Name = "descriptor" }.Start();   // one that says nothing keeps no other waiting
            }
            catch (SocketException e) when (!_isDisposed)
            {
                Complain(e);
            }
            catch (Exception) when (_isDisposed)
            {
                return;
            }
        }
    }

    private void AnswerOne(Socket client)
    {
        try
        {
            using (client)
            {
                client.ReceiveTimeout = client.SendTimeout = PatienceMilliseconds;
                Answer(client);
            }
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            Complain(e);
        }
    }

    private static void Complain(Exception e) => HostLog.Write($"supervisor: a descriptor could not be handed over: {e.Message}");

    private void Answer(Socket client)
    {
        int socket = (int)client.Handle;
        byte[] text = new byte[DescriptorMessages.TextMax];
        int length = DescriptorMessages.Receive(socket, text, out int descriptor);
        if (length < 2)
        {
            Close(descriptor);
            return;
        }

        string id = Encoding.UTF8.GetString(text, 1, length - 1);
        lock (_gate)
        {
            int kept = _kept.GetValueOrDefault(id, -1);
            switch ((char)text[0])
            {
                case Keep when descriptor >= 0:
                    Close(kept);
                    _kept[id] = descriptor;
                    break;
                case Drop:
                    _kept.Remove(id);
                    Close(kept);
                    Close(descriptor);
                    break;
                case Take when kept >= 0:
                    _ = DescriptorMessages.Send(socket, [Done], kept);
                    return;
                default:
                    _ = DescriptorMessages.Send(socket, [Unknown], -1);
                    Close(descriptor);
                    return;
            }
        }

        _ = DescriptorMessages.Send(socket, [Done], -1);
    }

    private static void Close(int descriptor)
    {
        if (descriptor >= 0)
        {
            _ = Libc.Close(descriptor);
        }
    }
}
