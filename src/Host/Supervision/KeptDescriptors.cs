using System.Diagnostics;
using System.Net.Sockets;
using System.Text;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Supervision;

/// <summary>The host's side of <see cref="DescriptorKeeper"/>.</summary>
/// <param name="socket">Path of the keeper's socket.</param>
internal sealed class KeptDescriptors(string socket) : IKeptDescriptors
{
    private const int PatienceMilliseconds = 5000;

    /// <summary>Hands a copy of a descriptor over to be kept. A keeper that is being started is waited for, up to 5 s.</summary>
    /// <inheritdoc/>
    public bool TryKeep(string id, int descriptor)
    {
        for (Stopwatch watch = Stopwatch.StartNew(); watch.ElapsedMilliseconds < PatienceMilliseconds; Thread.Sleep(20))
        {
            if (Ask(DescriptorKeeper.Keep, id, descriptor, out _) is DescriptorKeeper.Done)
            {
                return true;
            }
        }

        return false;
    }

    /// <inheritdoc/>
    public int Take(string id)
    {
        _ = Ask(DescriptorKeeper.Take, id, -1, out int descriptor);
        return descriptor;
    }

    /// <inheritdoc/>
    public void Drop(string id) => _ = Ask(DescriptorKeeper.Drop, id, -1, out _);

    /// <summary>Asks the keeper; 0 when it does not answer.</summary>
    private byte Ask(char operation, string id, int descriptor, out int received)
    {
        received = -1;
        try
        {
            using Socket keeper = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified)
            {
                ReceiveTimeout = PatienceMilliseconds, SendTimeout = PatienceMilliseconds,
            };
            keeper.Connect(new UnixDomainSocketEndPoint(socket));
            Span<byte> answer = stackalloc byte[1];
            return DescriptorMessages.Send((int)keeper.Handle, Encoding.UTF8.GetBytes(operation + id), descriptor) > 0
                && DescriptorMessages.Receive((int)keeper.Handle, answer, out received) == 1 ? answer[0] : (byte)0;
        }
        catch (SocketException)
        {
            return 0;
        }
    }
}
