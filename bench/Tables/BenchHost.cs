using System.Diagnostics;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

namespace TierSpaces.Bench.Tables;

/// <summary>A number of emulated disks of one class.</summary>
/// <param name="Profile">Latency profile.</param>
/// <param name="Count">Number of them.</param>
/// <param name="Size">Bytes of each.</param>
internal sealed record DiskShelf(string Profile, int Count, long Size);

/// <summary>The real executable with a home of its own, used as anybody uses it: by its command line.</summary>
internal sealed class BenchHost : IDisposable
{
    internal const string FastTier = "SSD";
    internal const string SlowTier = "HDD";

    private const string SharedMemory = "/dev/shm";

    private readonly string _executable;
    private readonly string _home = Directory.CreateTempSubdirectory("tsbench-").FullName;
    private readonly List<string> _connected = [];

    internal BenchHost(string executable) => _executable = File.Exists(executable)
        ? executable
        : throw new IOException($"'{executable}' is not there: ./build.sh Build makes it.");

    /// <summary>Processor time is counted on the process that serves, not on its supervisor.</summary>
    internal int Pid => StatusOf("ProcessId").GetInt32();

    internal string Runtime => StatusOf("Runtime").GetString()!;

    internal string Backend => $"{StatusOf("IOBackend").GetString()} ({StatusOf("IOBackendReason").GetString()})";

    /// <summary>Loop devices and mounts over its disks, which are removed before it stops.</summary>
    internal DevicePlaces Places { get; } = new();

    internal void Start() => Run("start");

    /// <summary>Output of a verb.</summary>
    internal string Run(string verb, params string[] arguments) => Programs.Run(_executable, [verb, .. arguments], ("TIERSPACES_HOME", _home));

    /// <summary>Begins a verb that takes a while.</summary>
    internal Process Begin(string verb, params string[] arguments) => Programs.Start(_executable, [verb, .. arguments], ("TIERSPACES_HOME", _home));

    /// <summary>Makes disks of these image files, and a pool of them.</summary>
    internal void CreatePool(string name, long size, params string[] images)
    {
        Run("New-PhysicalDisk", "-Path", string.Join(',', images), "-Size", Text(size), "-MediaType", "SSD");
        CreatePoolOf(name, images);
    }

    /// <summary>The same with one disk that has the latency of a class of disk.</summary>
    internal void CreateEmulatedPool(string name, long size, string profile, string image)
    {
        Run("New-PhysicalDisk", "-Path", image, "-Size", Text(size), "-LatencyProfile", profile);
        CreatePoolOf(name, image);
    }

    /// <summary>Makes a pool of disks that have the latency of classes of disk; the images are made in the folder.</summary>
    internal void CreateEmulatedPool(string name, BackingFolder folder, params DiskShelf[] shelves)
    {
        List<string> images = [];
        foreach (DiskShelf shelf in shelves)
        {
            string[] added = [.. Enumerable.Range(1, shelf.Count).Select(number => folder.File($"{name}-{shelf.Profile}-{number}.img"))];
            Run("New-PhysicalDisk", "-Path", string.Join(',', added), "-Size", Text(shelf.Size), "-LatencyProfile", shelf.Profile);
            images.AddRange(added);
        }

        CreatePoolOf(name, [.. images]);
    }

    /// <summary>A fixed virtual disk with 4 KiB sectors and one column, connected.</summary>
    internal NbdTarget CreateDisk(string pool, string name, string resiliency, string checksum, long size) => CreateDisk(
        pool, name, size, "-ResiliencySettingName", resiliency, "-Checksum", checksum, "-NumberOfColumns", "1");

    /// <summary>A fixed virtual disk with 4 KiB sectors, connected; the rest is as New-VirtualDisk takes it.</summary>
    internal NbdTarget CreateDisk(string pool, string name, long size, params string[] options) =>
        CreateDisk(pool, name, (long?)size, options);

    private NbdTarget CreateDisk(string pool, string name, long? size, params string[] options)
    {
        string[] sizes = size is { } bytes ? ["-Size", Text(bytes)] : [];
        string friendlyName = $"{pool} {name.Replace(",", " with", StringComparison.Ordinal)}";   // a comma would make two names of it
        Run(
            "New-VirtualDisk",
            ["-StoragePoolFriendlyName", pool, "-FriendlyName", friendlyName, "-LogicalSectorSize", "4096", "-ProvisioningType", "Fixed", .. sizes,
                .. options]);
        Run("Connect-VirtualDisk", "-FriendlyName", friendlyName);
        _connected.Add(friendlyName);
        using JsonDocument disks = JsonDocument.Parse(Run("Get-VirtualDisk", "-FriendlyName", friendlyName, "-Json"));
        string uri = disks.RootElement[0].GetProperty("NbdUri").GetString()!;
        return new NbdTarget(name, Uri.UnescapeDataString(uri[(uri.IndexOf("socket=", StringComparison.Ordinal) + 7)..]), friendlyName, Pid);
    }

    /// <summary>Attaches a virtual disk that is connected in one way, and returns its block device.</summary>
    internal string Attach(string friendlyName, string method)
    {
        Run("Disconnect-VirtualDisk", "-FriendlyName", friendlyName);
        Run("Connect-VirtualDisk", "-FriendlyName", friendlyName, "-AttachMethod", method);
        using JsonDocument disks = JsonDocument.Parse(Run("Get-VirtualDisk", "-FriendlyName", friendlyName, "-Json"));
        return disks.RootElement[0].GetProperty("DevicePath").GetString()
            ?? throw new IOException($"'{friendlyName}' has no device: {disks.RootElement[0].GetProperty("AttachReason").GetString()}");
    }

    /// <summary>The same over an SSD tier and an HDD tier, one column each.</summary>
    internal NbdTarget CreateTieredDisk(string pool, string name, long fast, long slow)
    {
        foreach (string tier in (string[])[FastTier, SlowTier])
        {
            Run(
                "New-StorageTier", "-StoragePoolFriendlyName", pool, "-FriendlyName", pool + tier, "-MediaType", tier,
                "-ResiliencySettingName", "Simple", "-NumberOfColumns", "1");
        }

        return CreateDisk(pool, name, null, "-StorageTiers", $"{pool}{FastTier},{pool}{SlowTier}", "-StorageTierSizes", $"{Text(fast)},{Text(slow)}");
    }

    /// <summary>A counter of the write cache of a virtual disk, as Get-VirtualDiskWriteCache shows it.</summary>
    internal long CacheCounter(string friendlyName, string property)
    {
        using JsonDocument caches = JsonDocument.Parse(Run("Get-VirtualDiskWriteCache", "-FriendlyName", friendlyName, "-Json"));
        return caches.RootElement[0].GetProperty(property).GetInt64();
    }

    public void Dispose()
    {
        try
        {
            Places.Dispose();
            _connected.ForEach(name => Run("Disconnect-VirtualDisk", "-FriendlyName", name));
            Run("stop");
        }
        catch (IOException error)
        {
            Console.Error.WriteLine($"bench: {error.Message}");
        }

        Directory.Delete(_home, recursive: true);
        string notes = $"{SharedMemory}/tierspaces-{Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(_home)))[..16]}";
        if (Directory.Exists(notes))
        {
            Directory.Delete(notes, recursive: true);
        }
    }

    private void CreatePoolOf(string name, params string[] images) =>
        Run("New-StoragePool", "-FriendlyName", name, "-PhysicalDisks", string.Join(',', images.Select(Path.GetFileNameWithoutExtension)));

    private JsonElement StatusOf(string property)
    {
        using JsonDocument status = JsonDocument.Parse(Run("status", "-Json"));
        return status.RootElement[0].GetProperty(property).Clone();
    }

    internal static string Text(long size) => size.ToString(CultureInfo.InvariantCulture);
}
