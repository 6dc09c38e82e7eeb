using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Native;

/// <summary>Messages over a Unix socket with a descriptor beside the text (SCM_RIGHTS), which .NET's sockets do not know.</summary>
internal static unsafe partial class DescriptorMessages
{
    /// <summary>Longest text of a message, in bytes.</summary>
    public const int TextMax = 256;

    private const int Level = 1;                     // SOL_SOCKET
    private const int Rights = 1;                    // SCM_RIGHTS
    private const int CloseOnExec = 0x40000000;      // MSG_CMSG_CLOEXEC

    /// <summary>Sends a text, and a descriptor unless that is negative. Returns the bytes sent, or a negative errno.</summary>
    public static int Send(int socket, ReadOnlySpan<byte> text, int descriptor)
    {
        Control control = new() { Length = (nuint)(sizeof(Control) - sizeof(int)), Level = Level, Type = Rights, Descriptor = descriptor };
        fixed (byte* bytes = text)
        {
            IoVector vector = new() { Base = bytes, Length = (nuint)text.Length };
            MessageHeader message = new() { Vectors = &vector, VectorCount = 1 };
            if (descriptor >= 0)
            {
                message.Control = &control;
                message.ControlLength = (nuint)sizeof(Control);
            }

            return Libc.CountOrError(Libc.SendMessage(socket, &message, Libc.MessageNoSignal));
        }
    }

    /// <summary>Receives a text, and the descriptor beside it or -1. Returns the bytes received, 0 at the end, or a negative errno.</summary>
    public static int Receive(int socket, Span<byte> text, out int descriptor)
    {
        Control control = default;
        fixed (byte* bytes = text)
        {
            IoVector vector = new() { Base = bytes, Length = (nuint)text.Length };
            MessageHeader message = new() { Vectors = &vector, VectorCount = 1, Control = &control, ControlLength = (nuint)sizeof(Control) };
            int received = Libc.CountOrError(ReceiveMessage(socket, &message, CloseOnExec));
            bool has = received > 0 && message.ControlLength >= (nuint)(sizeof(Control) - sizeof(int)) && control is { Level: Level, Type: Rights };
            descriptor = has ? control.Descriptor : -1;
            return received;
        }
    }

    [LibraryImport("libc", EntryPoint = "recvmsg", SetLastError = true)]
    private static partial nint ReceiveMessage(int socket, MessageHeader* message, int flags);

    /// <summary>struct cmsghdr with one descriptor, padded.</summary>
    [StructLayout(LayoutKind.Sequential)]
    private struct Control
    {
        public nuint Length;
        public int Level;
        public int Type;
        public int Descriptor;
        public int Padding;
    }
}
