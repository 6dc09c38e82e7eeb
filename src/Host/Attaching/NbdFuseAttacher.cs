using System.Globalization;

namespace TierSpaces.Host.Attaching;

/// <summary>
/// Attaches through FUSE: <c>nbdkit</c> (plugin nbd, filter retry) connects to the host and connects again after its death,
/// <c>nbdfuse</c> shows that as a file, a loop device makes the file a block device. The file system above sees a pause and no
/// error while the host is started again.
/// <list type="number">
/// <item>A connection that breaks is tried again for a minute, once a second; after that the device reports errors.</item>
/// <item>nbdkit serves one request per connection at a time here; nbdfuse opens eight connections to keep the host busy.</item>
/// <item>The loop device bypasses the page cache of the file below it: data is cached once, above.</item>
/// </list>
/// </summary>
internal sealed class NbdFuseAttacher : IAttacher
{
    private const int Retries = 60;
    private const int Connections = 8;
    private const string FileName = "disk";
    private static readonly string[] s_tools = ["nbdkit", "nbdfuse", "losetup", "fusermount3", "setsid"];

    /// <inheritdoc/>
    public string Method => "NbdFuse";

    /// <inheritdoc/>
    public string Patience => string.Create(CultureInfo.InvariantCulture, $"for {Retries} s");

    /// <inheritdoc/>
    public string? Obstacle()
    {
        string[] missing = s_tools.Where(tool => Tool.Find(tool) is null).ToArray();
        return missing.Length > 0
            ? $"{string.Join(", ", missing)} missing; 'apt-get install nbdkit nbdfuse fuse3 util-linux' installs them"
            : !BlockDevice.CanOpen("/dev/fuse") ? "/dev/fuse cannot be opened"
            : !BlockDevice.CanOpen("/dev/loop-control") ? "/dev/loop-control cannot be opened; root can"
            : null;
    }

    /// <inheritdoc/>
    public AttachRecord Attach(AttachTarget target, string folder)
    {
        AttachRecord record = new AttachRecord
        {
            UniqueId = target.UniqueId, FriendlyName = target.FriendlyName, ExportName = target.ExportName, Method = Method, Device = "", Folder = folder,
        };
        try
        {
            ProcessMark retry = StartRetry(target, folder);
            record = record with { Processes = [retry] };
            ProcessMark fuse = StartFuse(folder);
            record = record with { Processes = [fuse, retry] };
            string device = StartLoop(target, folder);
            return record with { Device = device, Use = BlockDevice.UseOf(device) };
        }
        catch
        {
            Detach(record);
            throw;
        }
    }

    /// <inheritdoc/>
    public bool IsIntact(AttachRecord record) =>
        record.Processes.Length == 2 && record.Processes.All(RunningProcess.IsAlive) && LoopFile.IsOf(record);

    /// <inheritdoc/>
    public void Resume(AttachRecord record, AttachTarget target)
    {
        // nbdkit has been knocking since the last host went away: there is nothing to do.
    }

    /// <inheritdoc/>
    public void Detach(AttachRecord record)
    {
        if (LoopFile.IsOf(record))
        {
            Tool.Run("losetup", "--detach", record.Device);
        }

        // The loop device is released when its last writer has closed it; until then the file below is busy.
        Undo(() => Tool.Run("fusermount3", "-u", MountPoint(record.Folder)));
        foreach (ProcessMark process in record.Processes)
        {
            RunningProcess.End(process);
        }

        // A mount whose server has gone is still a mount.
        Undo(() => Tool.Run("fusermount3", "-u", "-z", MountPoint(record.Folder)));
    }

    private static ProcessMark StartRetry(AttachTarget target, string folder)
    {
        string pidFile = Path.Combine(folder, "retry.pid");
        Tool.Run(
            "nbdkit", "--unix", RetrySocket(folder), "--pidfile", pidFile, "--filter=retry", "nbd",
            $"socket={target.Socket}", $"export={target.ExportName}",
            string.Create(CultureInfo.InvariantCulture, $"retries={Retries}"), "retry-delay=1", "retry-exponential=no");
        return RunningProcess.WaitForPidFile(pidFile, Path.Combine(folder, "retry.log"));
    }

    private static ProcessMark StartFuse(string folder)
    {
        string pidFile = Path.Combine(folder, "fuse.pid");
        string log = Path.Combine(folder, "fuse.log");
        Directory.CreateDirectory(MountPoint(folder));
        Tool.RunDetached(
            log, "nbdfuse", "-C", string.Create(CultureInfo.InvariantCulture, $"{Connections}"), "--pidfile", pidFile,
            Path.Combine(MountPoint(folder), FileName), $"nbd+unix:///?socket={Uri.EscapeDataString(RetrySocket(folder))}");
        return RunningProcess.WaitForPidFile(pidFile, log);
    }

    private static string StartLoop(AttachTarget target, string folder)
    {
        string sector = target.LogicalSectorSize.ToString(CultureInfo.InvariantCulture);
        string file = Path.Combine(MountPoint(folder), FileName);
        return Tool.Run("losetup", "--find", "--show", "--partscan", "--sector-size", sector, "--direct-io=on", file);
    }

    private static void Undo(Action step)
    {
        try
        {
            step();
        }
        catch (AttachException)
        {
            // Not there, or not any more: that is what was wanted.
        }
    }

    private static string MountPoint(string folder) => Path.Combine(folder, "mnt");

    private static string RetrySocket(string folder) => Path.Combine(folder, "retry.sock");
}
