using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>The server and the export of a virtual disk. Both belong to its lane: control code only hands them to actions there.</summary>
internal sealed record DiskExport(NbdServer Server, NbdExport Export);

/// <summary>Exports virtual disks, each on a socket of its own, on its lane.</summary>
internal sealed class DiskExports(SubsystemCore core)
{
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

    /// <summary>Ends the export of a virtual disk; nothing happens to one that is not exported.</summary>
    internal static async LaneTask<Nothing> Stop(ManagedVirtualDisk disk) => disk.TakeExport() is { } export
        ? await disk.Call(async LaneTask<Nothing> (_) =>
        {
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

    /// <summary>Notices are taken on the control lane.</summary>
    private Action<string> NoticeFrom(ILane lane) => lane == core.Lane ? core.Notice : text => core.Lane.Post(() => core.Notice(text));
}
