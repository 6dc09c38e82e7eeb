using System.Buffers.Binary;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Devices.Identity;

// Two devices are the same hardware if what names the hardware says so. A serial number is believed only where one belongs to one disk:
//
//   image file                 device and inode of the file, whatever its name
//   loop device                those of its backing file, if that is an image file; its range where it is not the whole file
//   other block device         the WWN (wwid); else of a virtio disk the serial number with the size
//   partition                  those of its disk, with first sector and size
//   else                       nothing is known: it is no second path of anything

/// <summary>Names the hardware behind an image file or a block device, to tell a second path from a copy.</summary>
internal static unsafe class Hardware
{
    private const int LoopStatusBytes = 232;   // struct loop_info64
    private const int OffsetOfInode = 8;
    private const int OffsetOfStart = 24;
    private const int OffsetOfLimit = 32;

    /// <summary>Names the hardware of an image file.</summary>
    internal static string OfFile(in FileStatus status) => $"inode:{status.ContainerMajor}:{status.ContainerMinor}:{status.Inode}";

    /// <summary>Names the device behind a path and its hardware, without a lock.</summary>
    internal static DeviceNames OfPath(string path, BlockDevices devices)
    {
        if (Libc.StatusOfPath(path, follow: true, out FileStatus status) < 0 || !status.IsBlockDevice)
        {
            return status.IsRegularFile ? new DeviceNames(OfFile(status), OfFile(status)) : DeviceNames.None;
        }

        int descriptor = Libc.OpenPath(path, Libc.OpenReadOnly | Libc.OpenNonblocking);
        if (descriptor < 0)
        {
            return DeviceNames.None;
        }

        string hardware = OfBlock(descriptor, devices.Describe(status.DeviceMajor, status.DeviceMinor));
        Libc.Close(descriptor);
        return new DeviceNames($"block:{status.DeviceMajor}:{status.DeviceMinor}", hardware);
    }

    /// <summary>Names the hardware of an open block device; empty where nothing is known.</summary>
    internal static string OfBlock(int descriptor, BlockDeviceFacts facts)
    {
        string disk = facts.Name.StartsWith("loop", StringComparison.Ordinal) ? OfBackingFile(descriptor, out string part) + part : facts.Identity.Hardware;
        return disk.Length == 0 ? "" : disk + facts.Range;
    }

    /// <summary>Names the hardware of a disk in sysfs; empty where nothing is known.</summary>
    internal static string OfNode(SysfsNode node)
    {
        string name = node.Read("device/wwid") is { Length: > 0 } scsi ? scsi : node.Read("wwid");
        string serial = node.DiskName.StartsWith("vd", StringComparison.Ordinal) ? node.Read("serial") : "";
        return name.Length > 0 ? $"wwid:{name}" : serial.Length > 0 ? $"serial:{serial}:{node.Read("size")}" : "";
    }

    /// <summary>Names the part of its disk that a partition is; empty for a whole disk.</summary>
    internal static string RangeOf(SysfsNode node) => !node.IsPartition ? ""
        : $"@{SysfsNode.ReadText(Path.Combine(node.Folder, "start"))}+{SysfsNode.ReadText(Path.Combine(node.Folder, "size"))}";

    /// <summary>Names the backing file of a loop device; empty for another device.</summary>
    /// <param name="descriptor">The open device.</param>
    /// <param name="range">Part of the file that it shows; empty for all of it.</param>
    internal static string OfBackingFile(int descriptor, out string range)
    {
        range = "";
        Span<byte> loop = stackalloc byte[LoopStatusBytes];
        fixed (byte* status = loop)
        {
            if (Libc.Control(descriptor, Libc.LoopGetStatus64, status) != 0)
            {
                return "";
            }
        }

        ulong device = BinaryPrimitives.ReadUInt64LittleEndian(loop);
        ulong inode = BinaryPrimitives.ReadUInt64LittleEndian(loop[OffsetOfInode..]);
        ulong start = BinaryPrimitives.ReadUInt64LittleEndian(loop[OffsetOfStart..]);
        ulong limit = BinaryPrimitives.ReadUInt64LittleEndian(loop[OffsetOfLimit..]);
        range = start == 0 && limit == 0 ? "" : $"[{start}+{limit}]";
        return $"inode:{(device >> 8) & 0xfff}:{(device & 0xff) | ((device >> 12) & 0xfff00)}:{inode}";
    }
}
