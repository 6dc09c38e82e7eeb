using System.Collections.Concurrent;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Attaching.Kernel;

namespace TierSpaces.Host.Tests.Attaching.Kernel;

/// <summary>
/// Does with connections what the kernel does: keeps a descriptor of its own, asks through it, refuses another owner, puts a new
/// connection in the place of a dead one only.
/// </summary>
internal sealed class FakeKernel : IKernelNbd
{
    private readonly ConcurrentDictionary<int, Device> _devices = [];
    private readonly BlockingCollection<IReadOnlyList<int>?> _news = [];

    public int Devices => _devices.Count;

    /// <summary>Refuses to make devices, with these words.</summary>
    public string? ManagementError { get; init; }

    public string? Obstacle() => null;

    public int Connect(ExportConnection export, int sectorSize, string owner)
    {
        int index = ManagementError is null ? _devices.Count : throw new AttachException(ManagementError);
        Assert.True(_devices.TryAdd(index, new Device(owner) { Connection = Take(export) }));
        return index;
    }

    public void Reconnect(int device, ExportConnection export, string owner)
    {
        if (!_devices.TryGetValue(device, out Device? known) || known.Owner != owner)
        {
            throw new AttachException("Invalid argument");
        }

        if (!IsAlive(device))
        {
            known.Connection = Take(export);
        }
    }

    public void Disconnect(int device)
    {
        if (_devices.TryRemove(device, out Device? gone))
        {
            gone.Connection.Dispose();
        }
    }

    public string UseOf(int device) => _devices.TryGetValue(device, out Device? known) ? known.Owner : "";

    public int? Find(string owner) =>
        _devices.Where(device => device.Value.Owner == owner).Select(device => (int?)device.Key).FirstOrDefault();

    public IDeadLinks Listen() => new Links(_news);

    /// <summary>Tells what the kernel tells: devices whose connections are dead; null: that something was not told.</summary>
    public void Tell(params int[]? dead) => _news.Add(dead);

    /// <summary>Reads a byte from a device; null when its connection is dead.</summary>
    public byte? ReadFrom(int device)
    {
        Socket connection = _devices[device].Connection;
        try
        {
            connection.Send([0x25, 0x60, 0x95, 0x13, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
            byte[] reply = new byte[17];
            for (int done = 0; done < reply.Length;)
            {
                int count = connection.Receive(reply.AsSpan(done));
                if (count == 0)
                {
                    return null;
                }

                done += count;
            }

            Assert.Equal([0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8], reply[..16]);
            return reply[16];
        }
        catch (SocketException)
        {
            return null;
        }
    }

    private bool IsAlive(int device) => ReadFrom(device) is not null;

    private static Socket Take(ExportConnection export)
    {
        Socket taken = new Socket(new SafeSocketHandle(Duplicate(export.Descriptor), ownsHandle: true));
        Assert.Equal(0, taken.ReceiveTimeout);
        Assert.Equal(0, taken.SendTimeout);
        return taken;
    }

    [DllImport("libc", EntryPoint = "dup")]
    private static extern int Duplicate(int descriptor);

    private sealed class Device(string owner)
    {
        public string Owner => owner;

        public required Socket Connection { get; set; }
    }

    private sealed class Links(BlockingCollection<IReadOnlyList<int>?> news) : IDeadLinks
    {
        public IReadOnlyList<int>? Next(TimeSpan patience) => news.TryTake(out IReadOnlyList<int>? dead, patience) ? dead : [];

        public void Dispose()
        {
        }
    }
}
