using System.Diagnostics;
using System.Globalization;
using TierSpaces.Contracts;

namespace TierSpaces.PowerCuts;

// Runs inside of the machine, at each start of it:
//  1. The host is started; at the first start it makes the pool and its virtual disks. A pool that was there opens by itself, and its devices appear.
//  2. Every device is read and compared, every file system is mounted, compared, unmounted, checked by its own program, and mounted again.
//  3. Where the runner asks for it: all is Healthy within some time, a repair of every virtual disk heals and loses nothing, and all is compared again. With
//     a disk that is away, nothing is lost or in doubt.
//  4. The content that was read is recorded as a whole, and a load begins that goes on until the power is cut.

/// <summary>The program of a machine under test.</summary>
internal sealed class MachineProgram(RunFolder folder, int boot)
{
    private static readonly TimeSpan s_healthyWithin = TimeSpan.FromMinutes(5);

    private readonly ulong _seed = ulong.Parse(File.ReadAllText(folder["seed"]), CultureInfo.InvariantCulture);
    private readonly bool _isThorough = File.Exists(folder["thorough"]);
    private readonly ManagementClient _client = new(null, ProcessHostLauncher.LaunchAsync);
    private readonly List<RawDisk> _devices = [];
    private readonly List<FileTree> _trees = [];

    internal static int Run(string path, string boot)
    {
        RunFolder folder = new(path);
        try
        {
            new MachineProgram(folder, int.Parse(boot, CultureInfo.InvariantCulture)).Run();
            return 0;
        }
        catch (Exception e)
        {
            folder.SayViolation(e is PowerCutException ? e.Message : e.ToString());
            return 1;
        }
    }

    private void Run()
    {
        Layout layout = new(_seed);
        Ask(new GetTierSpacesHostRequest());
        folder.Say("host");
        if (boot == 0)
        {
            MakeDisks(layout);
        }
        else
        {
            WaitUntil("the virtual disks have their devices", () => Ask(new GetVirtualDiskRequest())
                is { } disks && disks.Length == layout.Disks.Length && disks.All(static disk => disk.DevicePath is not null && File.Exists(disk.DevicePath)),
                WhatIsThere);
        }

        CopyLog();
        folder.Say("devices");
        Open(layout);
        Verify(layout);
        if (_isThorough)
        {
            if (layout.Away < 0)
            {
                Repair();
            }

            Verify(layout);
            Require(Lost());
        }

        RequireSilence();
        Record(layout);
        string compared = string.Create(CultureInfo.InvariantCulture,
            $"{_devices.Sum(static device => device.Compared)} {_trees.Sum(static tree => tree.Compared)} {_devices.Sum(static device => device.Survived)}");
        folder.Say($"verified {compared}");
        if (!File.Exists(folder["last"]))
        {
            WriteUntilTheEnd(layout);
        }
        else
        {
            End(layout);
        }
    }

    private void CopyLog() => File.Copy(_client.Paths.Log, folder["host.log"], overwrite: true);

    private string WhatIsThere()
    {
        CopyLog();
        return string.Join("; ", Ask(new GetVirtualDiskRequest()).Select(static disk =>
            $"{disk.FriendlyName}: {disk.DevicePath ?? $"no device ({disk.AttachReason})"}, {string.Join(", ", disk.OperationalStatus)} {disk.OtherOperationalStatusDescription}"));
    }

    private void MakeDisks(Layout layout)
    {
        Ask(new RegisterPhysicalDiskRequest { Path = ["/dev/loop1", "/dev/loop2", "/dev/loop3"], MediaType = MediaType.SSD });
        Ask(new RegisterPhysicalDiskRequest { Path = ["/dev/loop4", "/dev/loop5", "/dev/loop6", "/dev/loop7"], MediaType = MediaType.HDD });

        Ask(new NewStoragePoolRequest { FriendlyName = Layout.Pool, StorageSubSystemFriendlyName = ["*"], PhysicalDisks = ["*"] });
        Ask(layout.FastTier);
        Ask(layout.SlowTier);
        foreach (PlannedDisk disk in layout.Disks)
        {
            Ask(disk.Request);
            if (disk.FileSystem == "ext4")
            {
                Tool("mkfs.ext4", "-q", "-E", "lazy_itable_init=0", DeviceOf(disk));
            }
            else if (disk.FileSystem is not null)
            {
                Tool("mkfs.xfs", "-q", DeviceOf(disk));
            }
        }
    }

    private void Open(Layout layout)
    {
        int last = folder.NewestBase();
        for (int i = 0; i < layout.Disks.Length; i++)
        {
            PlannedDisk disk = layout.Disks[i];
            string saved = Path.Combine(folder.Base(last), disk.Name);
            long durable = boot == 0 ? 0 : FlushReport.Read(folder.Report(last), i);
            if (disk.FileSystem is null)
            {
                RawDisk device = new(disk.Name, i, DeviceOf(disk), (long)Ask(new GetVirtualDiskRequest { FriendlyName = [disk.Name] })[0].Size);
                _devices.Add(device);
                if (boot > 0)
                {
                    device.Load(saved, _seed, last, durable);
                }
            }
            else
            {
                FileTree tree = new(disk.Name, i, Directory.CreateDirectory(MountPoint(disk)).FullName);
                _trees.Add(tree);
                if (boot > 0)
                {
                    tree.Load(saved, _seed, last, durable);
                }
            }
        }
    }

    private void Verify(Layout layout)
    {
        foreach (RawDisk device in _devices)
        {
            Require(device.Verify());
        }

        foreach ((PlannedDisk disk, FileTree tree) in layout.Disks.Where(static disk => disk.FileSystem is not null).Zip(_trees))
        {
            Mount(disk);   // which replays the journal of the file system
            Require(tree.Verify());
            Tool("umount", MountPoint(disk));
            if (disk.FileSystem == "ext4")
            {
                Tool("e2fsck", "-f", "-n", DeviceOf(disk));
            }
            else
            {
                Tool("xfs_repair", "-n", DeviceOf(disk));
            }
        }
    }

    private void Repair()
    {
        WaitUntil("everything is healthy", () => Unhealthy() is null, () => Unhealthy() ?? "");
        Ask(new RepairVirtualDiskRequest { FriendlyName = ["*"] });
        foreach (StorageJobInfo job in Ask(new GetStorageJobRequest { Name = ["Repair"] }))
        {
            Require(job.BlocksHealed > 0 || job.BlocksLost > 0 || job.JobState is not ("Completed" or "Running")
                ? $"{job.Description}: {job.JobState}, {job.BlocksHealed} blocks healed, {job.BlocksLost} lost ({job.JobStatus})" : null);
        }

        Require(Unhealthy());
    }

    private string? Unhealthy()
    {
        string[] ill =
        [
            .. Ask(new GetStoragePoolRequest { FriendlyName = [Layout.Pool] }).Where(static pool => pool.HealthStatus != "Healthy")
                .Select(static pool => $"pool {pool.FriendlyName}: {pool.HealthStatus}, {string.Join(", ", pool.OperationalStatus)}"),
            .. Ask(new GetVirtualDiskRequest()).Where(static disk => disk.HealthStatus != "Healthy").Select(static disk =>
                $"{disk.FriendlyName}: {disk.HealthStatus}, {string.Join(", ", disk.OperationalStatus)} {disk.OtherOperationalStatusDescription}"),
            .. Ask(new GetPhysicalDiskRequest()).Where(static disk => disk.HealthStatus != "Healthy")
                .Select(static disk => $"{disk.FriendlyName}: {disk.HealthStatus}, {string.Join(", ", disk.OperationalStatus)}"),
        ];
        return ill.Length == 0 ? null : string.Join("; ", ill);
    }

    private string? Lost()
    {
        string[] lost = [.. Ask(new GetVirtualDiskRequest()).Where(static disk => disk.OperationalStatus.Any(static status => status is "Error" or "Detached"))
            .Select(static disk => $"{disk.FriendlyName}: {disk.OtherOperationalStatusDescription}")];
        return lost.Length == 0 ? null : string.Join("; ", lost);
    }

    /// <summary>The kernel has seen no error of a device or a file system.</summary>
    private static void RequireSilence()
    {
        string[] lines = [.. Tool("dmesg").Split('\n').Where(static line =>
            line.Contains("I/O error", StringComparison.OrdinalIgnoreCase) || line.Contains("EXT4-fs error", StringComparison.Ordinal)
            || line.Contains("EXT4-fs warning", StringComparison.Ordinal) || line.Contains("orruption", StringComparison.Ordinal)
            || line.Contains("lost async", StringComparison.Ordinal))];
        Require(lines.Length == 0 ? null : $"the kernel has seen errors: {string.Join(" | ", lines.Take(5))}");
    }

    private void Record(Layout layout)
    {
        string unfinished = folder["unfinished"];
        if (Directory.Exists(unfinished))
        {
            Directory.Delete(unfinished, recursive: true);
        }

        Directory.CreateDirectory(unfinished);
        foreach ((PlannedDisk disk, RawDisk device) in layout.Disks.Where(static disk => disk.FileSystem is null).Zip(_devices))
        {
            device.Save(Path.Combine(unfinished, disk.Name));
        }

        foreach ((PlannedDisk disk, FileTree tree) in layout.Disks.Where(static disk => disk.FileSystem is not null).Zip(_trees))
        {
            tree.Save(Path.Combine(unfinished, disk.Name));
        }

        using (FlushReport _ = new(folder.Report(boot)))   // nothing of the load is durable yet
        {
            Directory.Move(unfinished, folder.Base(boot));
        }
    }

    private void WriteUntilTheEnd(Layout layout)
    {
        foreach (PlannedDisk disk in layout.Disks.Where(static disk => disk.FileSystem is not null))
        {
            Mount(disk);
        }

        using FlushReport report = new(folder.Report(boot));
        ThreadPool.SetMinThreads(40, 4);
        List<Action> loads = [];
        loads.AddRange(_devices.Select(device => (Action)(() => device.Write(_seed, boot, report))));
        loads.AddRange(_trees.Select(tree => (Action)(() => tree.Write(_seed, boot, report))));
        Thread[] threads = [.. loads.Select(load => new Thread(() => Guard(load)))];
        Array.ForEach(threads, static thread => thread.Start());
        folder.Say("load");
        Array.ForEach(threads, static thread => thread.Join());
    }

    private void Guard(Action load)
    {
        try
        {
            load();
        }
        catch (Exception e)
        {
            folder.SayViolation($"under load: {(e is AggregateException { InnerException: { } inner } ? inner : e).Message}");
        }
    }

    private void End(Layout layout)
    {
        _devices.ForEach(static device => device.Dispose());
        Ask(new DisconnectVirtualDiskRequest { FriendlyName = [.. layout.Disks.Select(static disk => disk.Name)] });
        Ask(new StopTierSpacesHostRequest());
        folder.Say("done");
    }

    private void Mount(PlannedDisk disk) => Tool("mount", "-t", disk.FileSystem!, DeviceOf(disk), MountPoint(disk));

    private static string MountPoint(PlannedDisk disk) => $"/run/{disk.Name}";

    private string DeviceOf(PlannedDisk disk) => Path.Combine(_client.Paths.Devices, disk.Name);

    private TInfo[] Ask<TInfo>(StorageRequest<TInfo> request)
        where TInfo : class => _client.InvokeAsync(request).GetAwaiter().GetResult();

    private static void WaitUntil(string what, Func<bool> holds, Func<string>? reason = null)
    {
        for (Stopwatch watch = Stopwatch.StartNew(); !holds(); Thread.Sleep(100))
        {
            Require(watch.Elapsed > s_healthyWithin ? $"not within {s_healthyWithin.TotalSeconds} s: {what}. {reason?.Invoke()}" : null);
        }
    }

    private static void Require(string? problem)
    {
        if (problem is not null)
        {
            throw new PowerCutException(problem);
        }
    }

    private static string Tool(string name, params string[] arguments)
    {
        ProcessStartInfo start = new(name, arguments) { RedirectStandardOutput = true, RedirectStandardError = true };
        using Process process = Process.Start(start)!;
        Task<string> error = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        Require(process.ExitCode != 0 ? $"{name} {string.Join(' ', arguments)}: exit code {process.ExitCode}\n{output}\n{error.Result}" : null);
        return output;
    }
}
