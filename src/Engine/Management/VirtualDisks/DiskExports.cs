using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Exports virtual disks, each on a socket of its own.</summary>
internal sealed class DiskExports(SubsystemCore core)
{
    private readonly NbdBudget _payload = new();   // of all exports: they are on one lane

    /// <summary>Exports a virtual disk.</summary>
    /// <exception cref="ManagementException">Another one is exported under its name, or its socket is taken.</exception>
    internal void Start(ManagedVirtualDisk disk)
    {
        RequireOnlyOfItsName(disk);
        VirtualDiskDescription description = disk.Open.Description;
        string path = Path.Combine(core.Options.ExportFolder, $"{description.Id.Value:N}.sock");
        NbdServer server = new(core.Lane, budget: _payload, notice: core.Notice);
        NbdExport export = new(description.Id.Value, description.FriendlyName, $"TierSpaces virtual disk {description.Id.Value}", disk.Open.Disk,
            description.IsReadOnly);
        server.Add(export);
        try
        {
            server.ListenUnix(core.Options.Network ?? throw new ManagementException(ManagementError.NotSupported, "This host exports nothing."), path);
        }
        catch (IOException taken)
        {
            throw new ManagementException(ManagementError.SocketTaken, $"Virtual disk '{description.FriendlyName}' cannot be exported: {taken.Message}");
        }

        disk.SetExported(server, export, path);
    }

    /// <summary>Exports a virtual disk, or notes why it cannot be.</summary>
    internal void TryStart(ManagedVirtualDisk disk)
    {
        try
        {
            Start(disk);
        }
        catch (ManagementException rejected)
        {
            disk.SetExportProblem(rejected.Message);
            core.Notice($"Virtual disk {disk.Open.Description.FriendlyName} is not exported: {rejected.Message}");
        }
    }

    /// <summary>Ends the export of a virtual disk; nothing happens to one that is not exported.</summary>
    internal static async LaneTask<Nothing> Stop(ManagedVirtualDisk disk)
    {
        if (disk.TakeServer() is { } server)
        {
            await server.Close();
        }

        return default;
    }

    /// <summary>Refuses to export a virtual disk while another one is exported under its name.</summary>
    internal void RequireOnlyOfItsName(ManagedVirtualDisk disk)
    {
        VirtualDiskDescription description = disk.Open.Description;
        if (core.Pools.All.SelectMany(pool => pool.VirtualDisks.Values).Any(other =>
            other != disk && other.IsExported && FriendlyNames.AreSame(other.Open.Description.FriendlyName, description.FriendlyName)))
        {
            throw new ManagementException(
                ManagementError.NameTaken, $"Another virtual disk '{description.FriendlyName}' is connected.",
                "Disconnect it, or give one of the two another name.");
        }
    }
}
