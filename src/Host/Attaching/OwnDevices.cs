namespace TierSpaces.Host.Attaching;

/// <summary>
/// Knows the block devices that show virtual disks of this host. None of them becomes a physical disk of it, also where a device has the name that a missing
/// disk had: its requests would wait for the host that waits for them, and a file system on it could not be mounted.
/// </summary>
/// <param name="store">Records of attached disks.</param>
/// <param name="home">Home of the host: backing files of its loop devices are below it.</param>
internal sealed class OwnDevices(AttachStore store, string home)
{
    /// <summary>Names the virtual disk that a device or a partition of it shows; null: none of this host.</summary>
    /// <param name="name">Name that the kernel gives the device: <c>loop3</c>, <c>nbd0p1</c>.</param>
    public string? DiskOn(string name)
    {
        string device = "/dev/" + name;
        AttachRecord? record = Array.Find(store.Read(), record => record.Device.Length > 0 && BlockDevice.IsOn(device, record.Device)
            && (record.Use.Length == 0 || record.Use == BlockDevice.UseOf(record.Device)));
        return record?.FriendlyName ?? OfBackingFile(name);
    }

    /// <summary>A loop device that is being made has no record yet; its backing file is in the folder of its disk.</summary>
    private string? OfBackingFile(string name)
    {
        int partition = name.StartsWith("loop", StringComparison.Ordinal) ? name.IndexOf('p', "loop".Length) : -1;
        string path = $"/sys/block/{(partition < 0 ? name : name[..partition])}/loop/backing_file";
        string folder = AttachManager.RootOf(home) + "/";
        return File.Exists(path) && File.ReadAllText(path).TrimEnd('\n') is var file && file.StartsWith(folder, StringComparison.Ordinal)
            ? file[folder.Length..].Split('/')[0]
            : null;
    }
}
