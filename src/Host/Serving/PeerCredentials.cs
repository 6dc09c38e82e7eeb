using System.Net.Sockets;
using System.Runtime.InteropServices;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Serving;

/// <summary>Who is at the other end of a Unix socket, as the kernel says it.</summary>
/// <param name="ProcessId">Its process.</param>
/// <param name="UserId">Its effective user when it connected.</param>
internal readonly record struct PeerCredentials(int ProcessId, uint UserId)
{
    private const int LevelSocket = 1;
    private const int OptionPeerCredentials = 17;

    /// <summary>Asks the kernel.</summary>
    public static PeerCredentials Of(Socket socket)
    {
        Span<int> answer = stackalloc int[3];
        socket.GetRawSocketOption(LevelSocket, OptionPeerCredentials, MemoryMarshal.AsBytes(answer));
        return new PeerCredentials(answer[0], (uint)answer[1]);
    }

    /// <summary>Whether the host obeys: only its own user and root.</summary>
    public bool MayManage => UserId == 0 || UserId == Libc.EffectiveUser();
}
