using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using TierSpaces.Engine.Exports.Fuse;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Host.Native;
using TierSpaces.Host.Supervision;

namespace TierSpaces.Host.Attaching.Fuse;

/// <summary>
/// Attaches through FUSE that the engine speaks itself: a file system of one file, and a loop device on that file. No process is between the kernel and
/// the lane of the virtual disk.
/// <list type="number">
/// <item>The supervisor, or the descriptor store of systemd, has a copy of every descriptor. When the host is killed, requests wait in the kernel; the next
/// host takes the copy and asks for what was not answered again. Where nothing keeps copies this way is not chosen.</item>
/// <item>A descriptor is handed over before its device exists, and dropped after it is gone.</item>
/// <item>The loop device bypasses the page cache of the file below it: data is cached once, above.</item>
/// </list>
/// </summary>
internal sealed class FuseAttacher(IDeviceServer server, IKeptDescriptors? kept) : IAttacher
{
    private static readonly TimeSpan s_beginTimeout = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_releaseTimeout = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan s_mountedTimeout = TimeSpan.FromMilliseconds(500);

    private readonly ConcurrentDictionary<string, int> _descriptors = [];        // of this host, by virtual disk
    private readonly ConcurrentDictionary<string, FuseChannel> _channels = [];   // what this host serves, by virtual disk

    /// <inheritdoc/>
    public string Method => "Fuse";

    /// <inheritdoc/>
    public string Patience => "without a limit of time";

    /// <inheritdoc/>
    public string? Obstacle() => kept is null ? "nothing keeps the connection while the host is started again: neither a supervisor of ours nor a descriptor store of systemd"
        : Tool.Find("losetup") is null ? "losetup missing; 'apt-get install util-linux' installs it"
        : !Environment.IsPrivilegedProcess ? "only root mounts FUSE without a helper"
        : !BlockDevice.CanOpen("/dev/fuse") ? "/dev/fuse cannot be opened"
        : !BlockDevice.CanOpen("/dev/loop-control") ? "/dev/loop-control cannot be opened; root can"
        : null;

    /// <inheritdoc/>
    public AttachRecord Attach(AttachTarget target, string folder)
    {
        AttachRecord record = new AttachRecord
        {
            UniqueId = target.UniqueId, FriendlyName = target.FriendlyName, ExportName = target.ExportName, Method = Method, Device = "", Folder = folder,
            FileName = DeviceLinks.Encode(target.FriendlyName),
        };
        try
        {
            Directory.CreateDirectory(MountPoint(record));
            FuseChannel channel = Mount(record);
            Serve(record, channel);
            RequireBegun(channel);
            if (!kept!.TryKeep(record.UniqueId, _descriptors[record.UniqueId]))
            {
                throw new AttachException("the connection is not kept for the next host");
            }

            string device = StartLoop(target, record);
            return record with { Device = device, Use = BlockDevice.UseOf(device) };
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            Detach(record);
            throw new AttachException(e.Message);
        }
        catch
        {
            Detach(record);
            throw;
        }
    }

    /// <inheritdoc/>
    public bool IsIntact(AttachRecord record) => LoopFile.IsOf(record) && BlockDevice.IsMountPoint(MountPoint(record)) && Has(record.UniqueId)
        && _channels.GetValueOrDefault(record.UniqueId) is not { IsGone: true };

    /// <inheritdoc/>
    public bool Answers(AttachRecord record) => _channels.GetValueOrDefault(record.UniqueId) is { Answers: true };

    /// <inheritdoc/>
    public void Resume(AttachRecord record, AttachTarget target) =>
        Serve(record, new FuseChannel(_descriptors[record.UniqueId], record.FileName, isTakenOver: true));

    /// <inheritdoc/>
    public bool TryResize(AttachRecord record)
    {
        _ = new FileInfo(FileOf(record)).Length;   // the kernel asks for the size when someone does
        Tool.Run("losetup", "--set-capacity", record.Device);
        return true;
    }

    /// <inheritdoc/>
    public void Detach(AttachRecord record)
    {
        string place = MountPoint(record);
        if (!Answers(record))
        {
            MountCalls.Abort(place);   // what waits for it gets an error: else nothing could open the loop device, not even to end it
        }

        TimeSpan timeout = s_releaseTimeout;
        if (LoopFile.IsOf(record))
        {
            timeout = BlockDevice.IsClaimed(record.Device) ? s_mountedTimeout : timeout;
            Tool.Run("losetup", "--detach", record.Device);
        }

        // The loop device is released when its last user has closed it, and while it is mounted it has one; until then the file below is busy.
        for (Stopwatch watch = Stopwatch.StartNew(); BlockDevice.IsMountPoint(place) && !MountCalls.TryUnmount(place); Thread.Sleep(5))
        {
            if (watch.Elapsed > timeout)
            {
                MountCalls.UnmountLater(place);
                break;
            }
        }

        server.End(Guid.Parse(record.UniqueId));
        _channels.TryRemove(record.UniqueId, out _);
        kept?.Drop(record.UniqueId);
        if (_descriptors.TryRemove(record.UniqueId, out int descriptor))
        {
            _ = Libc.Close(descriptor);
        }
    }

    /// <summary>
    /// Takes copies of the descriptors of devices that an earlier host has left, before their disks are there: from then on the devices outlive the supervisor.
    /// </summary>
    public void TakeCopies(IEnumerable<AttachRecord> records)
    {
        foreach (AttachRecord record in records.Where(record => record.Method == Method))
        {
            _ = Has(record.UniqueId);
        }
    }

    /// <summary>Hands every descriptor to a supervisor that has just been started.</summary>
    public void HandOver()
    {
        foreach ((string id, int descriptor) in _descriptors)
        {
            if (kept?.TryKeep(id, descriptor) != true)
            {
                HostLog.Write($"the supervisor does not keep the connection of virtual disk {id}: its device does not outlive this host");
            }
        }
    }

    private void Serve(AttachRecord record, FuseChannel channel)
    {
        server.Serve(Guid.Parse(record.UniqueId), channel);
        _channels[record.UniqueId] = channel;
    }

    private FuseChannel Mount(AttachRecord record)
    {
        int descriptor = MountCalls.MountFuse(MountPoint(record));
        _descriptors[record.UniqueId] = descriptor;
        return new FuseChannel(descriptor, record.FileName, isTakenOver: false);
    }

    /// <summary>Whether this host has the descriptor of a connection, or gets it from the supervisor.</summary>
    private bool Has(string id)
    {
        if (_descriptors.ContainsKey(id))
        {
            return true;
        }

        int descriptor = kept?.Take(id) ?? -1;
        return descriptor >= 0 && _descriptors.TryAdd(id, descriptor);
    }

    private static void RequireBegun(FuseChannel channel)
    {
        if (!channel.Begun.Wait(s_beginTimeout))
        {
            throw new AttachException($"the kernel did not begin within {s_beginTimeout.TotalSeconds} s");
        }

        if (channel.Begun.Result is { Length: > 0 } problem)
        {
            throw new AttachException(problem);
        }
    }

    private static string StartLoop(AttachTarget target, AttachRecord record)
    {
        string sector = target.LogicalSectorSize.ToString(CultureInfo.InvariantCulture);
        string[] access = target.IsReadOnly ? ["--read-only"] : [];
        return Tool.Run("losetup", ["--find", "--show", "--partscan", "--sector-size", sector, "--direct-io=on", .. access, FileOf(record)]);
    }

    private static string FileOf(AttachRecord record) => Path.Combine(MountPoint(record), record.FileName);

    private static string MountPoint(AttachRecord record) => Path.Combine(record.Folder, "mnt");
}
