using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Attaching.Kernel;

/// <summary>
/// The kernel's NBD driver, configured through its netlink family. The configuration sets how the driver treats a connection that dies:
/// <list type="number">
/// <item>One connection per device. With more, the driver repeats a request that takes long on another connection, while the server still works on
/// the first: the older write could land last.</item>
/// <item>No time limit for a request, for the same reason: a slow disk is not a dead host. The driver repeats the requests of a dead connection on
/// the next one, when it next looks at them: every <see cref="LookMilliseconds"/>.</item>
/// <item>New requests wait <see cref="PatienceSeconds"/> for another connection and fail then. Requests that were under way wait until there is one
/// or the device is disconnected.</item>
/// </list>
/// </summary>
internal sealed class KernelNbd : IKernelNbd
{
    /// <summary>Time for which a file system waits for a host that is away, in seconds.</summary>
    internal const int PatienceSeconds = 60;

    /// <summary>
    /// Period, in milliseconds, at which the driver looks for requests that were lost with their connection; as late it calls a request
    /// slow.
    /// </summary>
    internal const int LookMilliseconds = 3000;

    private const string Family = "nbd";
    private const string Group = "nbd_mc_group";
    private const string Module = "/sys/module/nbd";
    private const string Devices = "/sys/block";
    private const string OwnerFile = "backend";
    private static readonly TimeSpan s_nodeTimeout = TimeSpan.FromSeconds(5);
    private bool _triedToLoad;

    private enum Command : byte
    {
        Connect = 1,
        Disconnect = 2,
        Reconfigure = 3,
        LinkDead = 4,
    }

    private enum Attribute : ushort
    {
        Index = 1,
        SizeBytes = 2,
        BlockSizeBytes = 3,
        Timeout = 4,
        ServerFlags = 5,
        Sockets = 7,
        DeadConnectionTimeout = 8,
        Owner = 10,
    }

    /// <inheritdoc/>
    public string? Obstacle()
    {
        if (Libc.EffectiveUser() != 0)
        {
            return "kernel NBD needs root";
        }

        LoadModule();
        if (!Directory.Exists(Module))
        {
            return "this kernel has no module nbd";
        }

        using NetlinkSocket netlink = new NetlinkSocket();
        return netlink.FamilyOf(Family) is null ? "the kernel's nbd cannot be reached from this network namespace" : null;
    }

    /// <inheritdoc/>
    public int Connect(ExportConnection export, int sectorSize, string owner)
    {
        IReadOnlyList<NetlinkMessage> answer = Tell(Command.Connect, Describe(export, sectorSize, owner));
        int index = answer.Select(IndexOf).FirstOrDefault(index => index is not null)
            ?? throw new AttachException("nbd: the kernel does not say which device it made");
        try
        {
            WaitForNode($"/dev/nbd{index}");
            File.WriteAllText(Path.Combine(Devices, $"nbd{index}/queue/io_timeout"), $"{LookMilliseconds}");
            return index;
        }
        catch (Exception e) when (e is AttachException or IOException or UnauthorizedAccessException)
        {
            Disconnect(index);
            throw new AttachException($"nbd{index}: {e.Message}");
        }
    }

    /// <inheritdoc/>
    public void Reconnect(int device, ExportConnection export, string owner) =>
        Tell(Command.Reconfigure, With(Attribute.Index, (uint)device)
            .Add((ushort)Attribute.Owner, owner)
            .Add((ushort)Attribute.Sockets, List(export)));

    /// <inheritdoc/>
    public void Disconnect(int device)
    {
        if (UseOf(device).Length > 0)
        {
            Tell(Command.Disconnect, With(Attribute.Index, (uint)device));
        }
    }

    /// <inheritdoc/>
    public string UseOf(int device)
    {
        // Kernels before 5.14 do not keep the owner; the thread that made the device has to do.
        string folder = Path.Combine(Devices, $"nbd{device}");
        return TryRead(Path.Combine(folder, OwnerFile)) ?? TryRead(Path.Combine(folder, "pid")) ?? "";
    }

    /// <inheritdoc/>
    public int? Find(string owner) => Directory.GetDirectories(Devices, "nbd*")
        .Where(folder => TryRead(Path.Combine(folder, OwnerFile)) == owner)
        .Select(folder => (int?)int.Parse(Path.GetFileName(folder).AsSpan("nbd".Length), CultureInfo.InvariantCulture))
        .FirstOrDefault();

    /// <inheritdoc/>
    public IDeadLinks Listen() => new DeadLinks();

    /// <summary>The request that makes a device.</summary>
    internal static NetlinkAttributes Describe(ExportConnection export, int sectorSize, string owner) =>
        With(Attribute.SizeBytes, (ulong)export.Length)
            .Add((ushort)Attribute.BlockSizeBytes, (ulong)sectorSize)
            .Add((ushort)Attribute.Timeout, 0UL)
            .Add((ushort)Attribute.ServerFlags, (ulong)export.Flags)
            .Add((ushort)Attribute.DeadConnectionTimeout, (ulong)PatienceSeconds)
            .Add((ushort)Attribute.Owner, owner)
            .Add((ushort)Attribute.Sockets, List(export));

    /// <summary>The device whose connection has died, when that is what a message says.</summary>
    internal static int? DeadIn(NetlinkMessage message) => message.Command == (byte)Command.LinkDead ? IndexOf(message) : null;

    private static NetlinkAttributes With(Attribute attribute, uint value) =>
        new NetlinkAttributes().Add((ushort)attribute, value);

    private static NetlinkAttributes With(Attribute attribute, ulong value) =>
        new NetlinkAttributes().Add((ushort)attribute, value);

    /// <summary>A list of one item, which has one descriptor.</summary>
    private static NetlinkAttributes List(ExportConnection export) =>
        new NetlinkAttributes().Add(1, new NetlinkAttributes().Add(1, (uint)export.Descriptor));

    private static int? IndexOf(NetlinkMessage message) =>
        message.Attributes.GetValueOrDefault((ushort)Attribute.Index) is { Length: 4 } index
            ? MemoryMarshal.Read<int>(index)
            : null;

    private static IReadOnlyList<NetlinkMessage> Tell(Command command, NetlinkAttributes attributes)
    {
        using NetlinkSocket netlink = new NetlinkSocket();
        ushort family = netlink.FamilyOf(Family) ?? throw new AttachException("nbd: the kernel has no such family");
        return netlink.Ask($"nbd {command}", family, (byte)command, attributes);
    }

    private static void WaitForNode(string path)
    {
        for (Stopwatch watch = Stopwatch.StartNew(); !File.Exists(path); Thread.Sleep(5))
        {
            if (watch.Elapsed > s_nodeTimeout)
            {
                throw new AttachException($"{path} did not appear within {s_nodeTimeout.TotalSeconds} s");
            }
        }
    }

    private static string? TryRead(string path)
    {
        try
        {
            return File.Exists(path) ? File.ReadAllText(path).Trim() : null;
        }
        catch (IOException)
        {
            return null;
        }
    }

    private void LoadModule()
    {
        if (_triedToLoad || Directory.Exists(Module) || Tool.Find("modprobe") is null)
        {
            return;
        }

        _triedToLoad = true;
        try
        {
            Tool.Run("modprobe", "nbd");
        }
        catch (AttachException e)
        {
            HostLog.Write(e.Message);
        }
    }

    private sealed class DeadLinks : IDeadLinks
    {
        private readonly NetlinkSocket _netlink = new();

        public DeadLinks() => _netlink.Join(Family, Group);

        public IReadOnlyList<int>? Next(TimeSpan patience) => _netlink.News(patience)?.Select(DeadIn).OfType<int>().ToArray();

        public void Dispose() => _netlink.Dispose();
    }
}
