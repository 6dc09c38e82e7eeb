using System.Diagnostics;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Tests.Lanes;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>Names of the hardware behind a device: the same for two paths to it, another for a copy.</summary>
public sealed class HardwareTests
{
    [Theory]
    [InlineData("pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda", "device/wwid=naa.5000c500a1b2c3d4", "wwid:naa.5000c500a1b2c3d4")]
    [InlineData("pci0000:00/0000:00:1d.0/nvme/nvme0/nvme0n1", "wwid=eui.0025385b71b2c3d4", "wwid:eui.0025385b71b2c3d4")]
    [InlineData("pci0000:00/0000:00:1d.0/nvme/nvme0/nvme0n1", "device/serial=S1", "")]   // of the controller: all its namespaces have it
    [InlineData("pci0000:00/0000:00:04.0/virtio1/block/vda", "serial=disk-a", "serial:disk-a:2097152")]
    [InlineData("pci0000:00/0000:00:04.0/virtio1/block/vda", "ro=0", "")]
    public void A_block_device_is_named_by_its_wwn_or_by_a_serial_number_of_its_own(string device, string attribute, string expected)
    {
        using FakeSystem system = new();
        Assert.Equal(expected, system.Disk("8:0", device, attribute).Describe(8, 0).Identity.Hardware);
    }

    [Fact]
    public void A_partition_is_named_with_its_place()
    {
        const string disk = "pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda";
        using FakeSystem system = new();
        system.Disk("8:0", disk, "device/wwid=naa.5000c500a1b2c3d4").Partition("8:1", disk, "sda1").Set($"{disk}/sda1", "start=2048");
        Assert.Equal(("wwid:naa.5000c500a1b2c3d4", "@2048+2048"), (system.Describe(8, 1).Identity.Hardware, system.Describe(8, 1).Range));
        Assert.Equal("", system.Describe(8, 0).Range);
    }

    [Fact]
    public void Loop_devices_and_names_of_one_image_are_the_same_hardware_and_a_copy_is_not()
    {
        using TemporaryImage image = TemporaryImage.OnDisk();
        string link = image.Path + ".link", copy = image.Path + ".copy";
        List<string> loops = [];
        using TestLane test = TestLane.Create(LaneBackend.Threads);
        try
        {
            Assert.Equal(0, Commands.Run("ln", image.Path, link).ExitCode);
            Assert.Equal(0, Commands.Run("cp", image.Path, copy).ExitCode);
            loops.AddRange([Attach(image.Path), Attach(link), Attach(copy), Attach(image.Path, "--offset", "1048576")]);
            string[] hardware = test.Run(async () =>
            {
                List<string> names = [];
                string[] blocks = [.. loops.Select(static loop => $"block:{loop}")];
                foreach (string uri in new[] { image.Uri, $"file:{link}", blocks[0], blocks[1], $"file:{copy}", blocks[2], blocks[3] })
                {
                    DeviceNames named = await new DiskFactory().NameDevice(test.Lane, uri);
                    IDisk disk = await new DiskFactory().Open(test.Lane, uri, new DiskOverrides());
                    Assert.Equal(named, new DeviceNames(disk.Identity.DeviceKey, disk.Identity.Hardware));
                    await disk.Close();
                    names.Add(named.Hardware);
                }

                Assert.Equal(DeviceNames.None, await new DiskFactory().NameDevice(test.Lane, "file:/nowhere/at.all"));
                return names.ToArray();
            });
            Assert.StartsWith("inode:", hardware[0], StringComparison.Ordinal);
            Assert.All(hardware[1..4], name => Assert.Equal(hardware[0], name));
            Assert.Equal(hardware[4], hardware[5]);
            Assert.Equal(3, hardware.Distinct().Count());
        }
        finally
        {
            loops.ForEach(static loop => Commands.Run("losetup", "--detach", loop));
            File.Delete(link);
            File.Delete(copy);
        }
    }

    // The lock on the file and those on loop devices over it are not known to each other.
    [Fact]
    public void An_image_that_another_process_uses_by_another_path_is_in_use()
    {
        using TemporaryImage image = TemporaryImage.OnDisk();
        List<string> loops = [];
        using TestLane test = TestLane.Create(LaneBackend.Threads);
        try
        {
            loops.AddRange([Attach(image.Path), Attach(image.Path)]);
            foreach ((string locked, string opened) in new[]
            {
                (image.Path, $"block:{loops[0]}"), (loops[0], image.Uri), (loops[0], $"block:{loops[1]}"),
            })
            {
                using Process other = Process.Start(new ProcessStartInfo("flock", [locked, "sh", "-c", "echo locked; exec sleep 60"])
                {
                    RedirectStandardOutput = true,
                })!;
                Assert.Equal("locked", other.StandardOutput.ReadLine());
                DiskOpenException refused = Assert.Throws<DiskOpenException>(() => OpenAndClose(opened));
                Assert.Equal(DiskOpenFailure.InUse, refused.Failure);
                Assert.Contains(" open, which leads to the same image. Release it there first.", refused.Message, StringComparison.Ordinal);
                other.Kill(entireProcessTree: true);
                other.WaitForExit();
                OpenAndClose(opened);
            }
        }
        finally
        {
            loops.ForEach(static loop => Commands.Run("losetup", "--detach", loop));
        }

        void OpenAndClose(string uri) => test.Run(async () =>
        {
            IDisk disk = await new DiskFactory().Open(test.Lane, uri, new DiskOverrides());
            await disk.Close();
            return 0;
        });
    }

    private static string Attach(string image, params string[] options)
    {
        (int exitCode, string path, string error) = Commands.Run("losetup", ["--find", "--show", .. options, image]);
        Assert.SkipUnless(exitCode == 0, $"Cannot attach a loop device: {error}");
        return path;
    }
}
