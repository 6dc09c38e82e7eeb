using System.Net;
using TierSpaces.Engine.Exports.Fuse;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>
/// The server and the export of a virtual disk, and what serves it to the kernel, if anything does. They belong to its lane: control code only hands them to
/// actions there.
/// </summary>
internal sealed record DiskExport(NbdServer Server, NbdExport Export, FuseSession? Device = null);

/// <summary>
/// Exports virtual disks, each on a socket of its own, on its lane: at a TCP endpoint, too, where one was given, and to the kernel where a device of one has
/// been made.
/// </summary>
internal sealed class DiskExports(SubsystemCore core)
{
    private readonly Dictionary<Guid, FuseChannel> _channels = [];     // by virtual disk; they outlive its exports
    private readonly Dictionary<Guid, IPEndPoint> _endpoints = [];   // the same

    /// <summary>Exports a virtual disk.</summary>
    /// <exception cref="ManagementException">Another one is exported under its name, or its socket is taken.</exception>
    internal async LaneTask<Nothing> Start(ManagedVirtualDisk disk)
    {
        RequireOnlyOfItsName(disk);
        VirtualDiskDescription description = disk.Description;
        string path = Path.Combine(core.Options.ExportFolder, $"{description.Id.Value:N}.sock");
        ILane lane = disk.Lane;
        NbdBudget payload = core.DataLanes.PayloadOf(lane);
        Action<string> notice = NoticeFrom(lane);
        ILaneNetwork network = core.DataLanes.NetworkOf(lane) ?? throw new ManagementException(ManagementError.NotSupported, "This host exports nothing.");
        try
        {
            DiskExport export = await disk.Ask(open =>
            {
                NbdServer server = new(lane, budget: payload, notice: notice);
                NbdExport only = new(description.Id.Value, description.FriendlyName, $"TierSpaces virtual disk {description.Id.Value}", open.Disk,
                    description.IsReadOnly);
                server.Add(only);
                server.ListenUnix(network, path);
                return new DiskExport(server, only);
            });
            disk.SetExported(export, path);
            if (_endpoints.TryGetValue(description.Id.Value, out IPEndPoint? endpoint))
            {
                await TryListen(disk, export, endpoint);
            }

            if (_channels.TryGetValue(description.Id.Value, out FuseChannel? channel))
            {
                await TryStartDevice(disk, export, channel);
            }

            return default;
        }
        catch (IOException taken)
        {
            throw new ManagementException(ManagementError.SocketTaken, $"Virtual disk '{description.FriendlyName}' cannot be exported: {taken.Message}");
        }
    }

    /// <summary>Exports a virtual disk, or notes why it cannot be.</summary>
    internal async LaneTask<Nothing> TryStart(ManagedVirtualDisk disk)
    {
        try
        {
            return await Start(disk);
        }
        catch (ManagementException rejected)
        {
            disk.SetExportProblem(rejected.Message);
            core.Notice($"Virtual disk {disk.Description.FriendlyName} is not exported: {rejected.Message}");
            return default;
        }
    }

    /// <summary>Takes clients of an exported virtual disk at a TCP endpoint, too: now, and whenever it is exported again, until <see cref="Forget"/>.</summary>
    /// <exception cref="ManagementException">The virtual disk is not exported, or the endpoint cannot be listened at; nothing was changed.</exception>
    internal async LaneTask<Nothing> Listen(ManagedVirtualDisk disk, IPEndPoint endpoint)
    {
        await Listen(disk, RequireExport(disk), endpoint);
        _endpoints[disk.Description.Id.Value] = endpoint;
        return default;
    }

    /// <summary>A virtual disk that is exported again listens at its socket alone.</summary>
    internal void Forget(Guid id) => _endpoints.Remove(id);

    /// <summary>Serves an exported virtual disk to the kernel, now and whenever it is exported again.</summary>
    /// <exception cref="ManagementException">The virtual disk is not exported, or the memory of its lane cannot be locked; nothing was changed.</exception>
    internal async LaneTask<Nothing> Serve(ManagedVirtualDisk disk, FuseChannel channel)
    {
        await StartDevice(disk, RequireExport(disk), channel);
        _channels[disk.Description.Id.Value] = channel;
        return default;
    }

    /// <summary>Serves a virtual disk to the kernel no longer; nothing happens to one that is not served.</summary>
    internal async LaneTask<Nothing> EndDevice(Guid id, ManagedVirtualDisk? disk)
    {
        _channels.Remove(id);
        if (disk?.Export is { Device: { } device } export)
        {
            disk.SetExported(export with { Device = null }, disk.SocketPath);
            await disk.Call(async LaneTask<Nothing> (_) =>
            {
                await device.Drain();
                return default;
            });
        }

        return default;
    }

    /// <summary>Ends the export of a virtual disk; nothing happens to one that is not exported.</summary>
    internal static async LaneTask<Nothing> Stop(ManagedVirtualDisk disk) => disk.TakeExport() is { } export
        ? await disk.Call(async LaneTask<Nothing> (_) =>
        {
            if (export.Device is { } device)
            {
                await device.Drain();
            }

            await export.Server.Close();
            return default;
        })
        : default;

    /// <summary>Gives the export of a virtual disk its name; nothing happens to one that is not exported.</summary>
    internal static async LaneTask<Nothing> Rename(ManagedVirtualDisk disk, string name) => disk.Export is { } export
        ? await disk.Ask(_ =>
        {
            export.Export.Rename(name);
            return default(Nothing);
        })
        : default;

    /// <summary>Takes no further request of a virtual disk's clients, and completes when none is under way, until <see cref="Resume"/>.</summary>
    internal static async LaneTask<Nothing> Suspend(ManagedVirtualDisk disk, DiskExport export) => await disk.Call(async LaneTask<Nothing> (_) =>
    {
        await export.Export.Suspend();
        return default;
    });

    /// <summary>Undoes one <see cref="Suspend"/>; an export that has ended may be resumed, too.</summary>
    internal static LaneTask<bool> Resume(ManagedVirtualDisk disk, DiskExport export) => disk.Ask(_ =>
    {
        export.Export.Resume();
        return true;
    });

    /// <summary>Refuses to export a virtual disk while another one is exported under its name.</summary>
    internal void RequireOnlyOfItsName(ManagedVirtualDisk disk) => RequireOnlyOfItsName(core, disk, disk.Description.FriendlyName);

    /// <summary>Refuses a name under which another virtual disk is exported.</summary>
    internal static void RequireOnlyOfItsName(SubsystemCore core, ManagedVirtualDisk disk, string name)
    {
        if (core.Pools.All.SelectMany(pool => pool.VirtualDisks.Values).Any(other =>
            other != disk && other.IsExported && FriendlyNames.AreSame(other.Description.FriendlyName, name)))
        {
            throw new ManagementException(
                ManagementError.NameTaken, $"Another virtual disk '{name}' is connected.",
                "Disconnect it, or give one of the two another name.");
        }
    }

    private static DiskExport RequireExport(ManagedVirtualDisk disk) => disk.Export ?? throw new ManagementException(
        ManagementError.NotSupported, $"Virtual disk '{disk.Description.FriendlyName}' is not exported.", "Connect it first.");

    /// <summary>Listens for clients of a virtual disk again. If that is not possible it stays exported at its socket.</summary>
    private async LaneTask<Nothing> TryListen(ManagedVirtualDisk disk, DiskExport export, IPEndPoint endpoint)
    {
        try
        {
            return await Listen(disk, export, endpoint);
        }
        catch (ManagementException problem)
        {
            core.Notice(problem.Message);
            return default;
        }
    }

    private async LaneTask<Nothing> Listen(ManagedVirtualDisk disk, DiskExport export, IPEndPoint endpoint)
    {
        ILaneNetwork network = core.DataLanes.NetworkOf(disk.Lane)!;
        try
        {
            await disk.Ask(_ => export.Server.ListenTcp(network, endpoint));
            return default;
        }
        catch (IOException taken)
        {
            throw new ManagementException(ManagementError.SocketTaken, $"Virtual disk '{disk.Description.FriendlyName}' has no address: {taken.Message}");
        }
    }

    /// <summary>Serves a virtual disk to the kernel again. If that is not possible it stays exported, and its device waits.</summary>
    private async LaneTask<Nothing> TryStartDevice(ManagedVirtualDisk disk, DiskExport export, FuseChannel channel)
    {
        try
        {
            return await StartDevice(disk, export, channel);
        }
        catch (ManagementException problem)
        {
            core.Notice(problem.Message);
            return default;
        }
    }

    private async LaneTask<Nothing> StartDevice(ManagedVirtualDisk disk, DiskExport export, FuseChannel channel)
    {
        ILane lane = disk.Lane;
        ILaneNetwork network = core.DataLanes.NetworkOf(lane)!;
        Action<string> notice = NoticeFrom(lane);
        try
        {
            FuseSession device = await disk.Ask(_ => FuseSession.Start(lane, network, export.Export, channel, notice));
            disk.SetExported(export with { Device = device }, disk.SocketPath);
            return default;
        }
        catch (IOException problem)
        {
            throw new ManagementException(ManagementError.NotSupported, $"Virtual disk '{disk.Description.FriendlyName}' has no device: {problem.Message}");
        }
    }

    /// <summary>Notices are taken on the control lane.</summary>
    private Action<string> NoticeFrom(ILane lane) => lane == core.Lane ? core.Notice : text => core.Lane.Post(() => core.Notice(text));
}
