using System.Diagnostics;
using System.Net.Sockets;
using System.Text;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Supervision;

/// <summary>The host's side of <see cref="DescriptorKeeper"/>.</summary>
/// <param name="socket">Path of the keeper's socket.</param>
/// <param name="patienceMilliseconds">Time for an answer.</param>
internal sealed class KeptDescriptors(string socket, int patienceMilliseconds = 5000) : IKeptDescriptors
{
    private const byte Silent = 0;
    private const int Silences = 12;   // a minute: without its descriptor a device ends, with the file system that is mounted from it

    /// <summary>Hands a copy of a descriptor over to be kept. A keeper that is being started is waited for, up to 5 s.</summary>
    /// <inheritdoc/>
    public bool TryKeep(string id, int descriptor)
    {
        for (Stopwatch watch = Stopwatch.StartNew(); watch.ElapsedMilliseconds < patienceMilliseconds; Thread.Sleep(20))
        {
            if (Ask(DescriptorKeeper.Keep, id, descriptor, out _) is DescriptorKeeper.Done)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Takes a copy of a descriptor. A keeper that is there and does not answer, on a machine that is busy, is asked again.</summary>
    /// <inheritdoc/>
    public int Take(string id)
    {
        int descriptor = -1;
        for (int silences = 0; silences < Silences && Ask(DescriptorKeeper.Take, id, -1, out descriptor) == Silent; silences++)
        {
        }

        return descriptor;
    }

    /// <inheritdoc/>
    public void Drop(string id) => _ = Ask(DescriptorKeeper.Drop, id, -1, out _);

    /// <summary>Asks the keeper.</summary>
    /// <returns>Its answer; <see cref="Silent"/> where it gives none in time, <see cref="DescriptorKeeper.Unknown"/> where there is no keeper.</returns>
    private byte Ask(char operation, string id, int descriptor, out int received)
    {
        received = -1;
        try
        {
            using Socket keeper = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified)
            {
                ReceiveTimeout = patienceMilliseconds, SendTimeout = patienceMilliseconds,
            };
            keeper.Connect(new UnixDomainSocketEndPoint(socket));
            Span<byte> answer = stackalloc byte[1];
            return DescriptorMessages.Send((int)keeper.Handle, Encoding.UTF8.GetBytes(operation + id), descriptor) > 0
                && DescriptorMessages.Receive((int)keeper.Handle, answer, out received) == 1 ? answer[0] : Silent;
        }
        catch (SocketException)
        {
            return DescriptorKeeper.Unknown;
        }
    }
}
