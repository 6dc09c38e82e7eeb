using System.Runtime.InteropServices;
using System.Text;
using Microsoft.Win32.SafeHandles;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Attaching.Kernel;

/// <summary>
/// A socket of generic netlink: questions to the kernel, and its news. For one thread at a time.
/// </summary>
internal sealed class NetlinkSocket : IDisposable
{
    private const ushort Controller = 16;
    private const byte GetFamily = 3;
    private const ushort FamilyId = 1;
    private const ushort FamilyName = 2;
    private const ushort Groups = 7;
    private const ushort GroupName = 1;
    private const ushort GroupId = 2;
    private readonly SafeFileHandle _socket;
    private readonly byte[] _buffer = new byte[32 << 10];
    private uint _sequence;

    /// <summary>Opens it.</summary>
    /// <exception cref="AttachException">The kernel gives none.</exception>
    public NetlinkSocket()
    {
        int descriptor = Netlink.Open();
        _socket = descriptor >= 0 ? new SafeFileHandle(descriptor, ownsHandle: true) : throw Failure("netlink", -descriptor);
    }

    private int Descriptor => (int)_socket.DangerousGetHandle();

    /// <summary>Number of a family; null when this kernel, or this network namespace, has none of that name.</summary>
    public ushort? FamilyOf(string name) =>
        Describe(name)?.GetValueOrDefault(FamilyId) is { Length: 2 } id ? MemoryMarshal.Read<ushort>(id) : null;

    /// <summary>Joins a multicast group of a family: from now on <see cref="News"/> returns its messages.</summary>
    /// <exception cref="AttachException">There is no such group.</exception>
    public void Join(string family, string group)
    {
        Dictionary<ushort, byte[]> groups = NetlinkAttributes.Read(Describe(family)?.GetValueOrDefault(Groups) ?? []);
        byte[]? id = groups.Values.Select(entry => NetlinkAttributes.Read(entry))
            .FirstOrDefault(entry => Text(entry.GetValueOrDefault(GroupName)) == group)?.GetValueOrDefault(GroupId);
        if (id is not { Length: sizeof(uint) } || Netlink.Join(Descriptor, MemoryMarshal.Read<uint>(id)) != 0)
        {
            throw new AttachException($"netlink has no group {group} of {family}");
        }
    }

    /// <summary>Sends a request and returns the answer, without the message that ends it.</summary>
    /// <exception cref="AttachException">The kernel refused; the message has its reason.</exception>
    public IReadOnlyList<NetlinkMessage> Ask(string what, ushort family, byte command, NetlinkAttributes attributes)
    {
        (List<NetlinkMessage>? answer, int error) = TryAsk(family, command, attributes);
        return error == 0 ? answer : throw Failure(what, error);
    }

    /// <summary>
    /// Returns the messages to the groups that were joined; empty: none arrived within <paramref name="patience"/>; null: they could not be read, so
    /// any message may have been missed.
    /// </summary>
    public IReadOnlyList<NetlinkMessage>? News(TimeSpan patience)
    {
        _ = Netlink.SetPatience(Descriptor, patience);
        return Receive(out int error) is { } messages ? messages
            : error is Errno.EAGAIN or Errno.EINTR ? []
            : null;
    }

    /// <inheritdoc/>
    public void Dispose() => _socket.Dispose();

    private static AttachException Failure(string what, int error) => new($"{what}: {Errno.Describe(error)}");

    private static string Text(byte[]? value) => Encoding.UTF8.GetString(value ?? []).TrimEnd('\0');

    private Dictionary<ushort, byte[]>? Describe(string family)
    {
        (List<NetlinkMessage>? answer, int error) = TryAsk(Controller, GetFamily, new NetlinkAttributes().Add(FamilyName, family));
        return error switch
        {
            0 => answer.FirstOrDefault()?.Attributes,
            Errno.ENOENT => null,
            _ => throw Failure("netlink", error),
        };
    }

    /// <summary>The kernel has answered before the sending call returns.</summary>
    private (List<NetlinkMessage> Answer, int Error) TryAsk(ushort family, byte command, NetlinkAttributes attributes)
    {
        byte[] request = NetlinkMessage.Request(family, command, ++_sequence, attributes);
        List<NetlinkMessage> answer = new List<NetlinkMessage>();
        if (Netlink.Send(Descriptor, request) is < 0 and var failure)
        {
            return (answer, -failure);
        }

        while (true)
        {
            if (Receive(out int error) is not { } messages)
            {
                if (error == Errno.EINTR)
                {
                    continue;
                }

                return (answer, error);
            }

            foreach (NetlinkMessage? message in messages.Where(message => message.Sequence == _sequence))
            {
                if (message.Type == NetlinkMessage.Error)
                {
                    return (answer, message.Errno);
                }

                answer.Add(message);
            }
        }
    }

    private IReadOnlyList<NetlinkMessage>? Receive(out int error)
    {
        int length = Netlink.Receive(Descriptor, _buffer);
        error = length < 0 ? -length : 0;
        return length < 0 ? null : NetlinkMessage.Read(_buffer.AsSpan(0, length));
    }
}
