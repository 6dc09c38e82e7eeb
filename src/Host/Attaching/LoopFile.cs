namespace TierSpaces.Host.Attaching;

/// <summary>A loop device on a file that an attacher has made.</summary>
internal static class LoopFile
{
    /// <summary>Whether the loop device of a record still shows the file it was made for: it has a backing file, and was not set up again since.</summary>
    public static bool IsOf(AttachRecord record) => record.Device.Length > 0 && BlockDevice.UseOf(record.Device) == record.Use
        && File.Exists($"/sys/block/{Path.GetFileName(record.Device)}/loop/backing_file");
}
