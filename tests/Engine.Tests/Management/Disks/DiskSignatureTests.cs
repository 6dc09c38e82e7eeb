using System.Diagnostics;
using System.Text;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Signatures that only a program of the machine knows keep disks out of pools until they are reset.</summary>
public sealed class DiskSignatureTests : IAsyncLifetime
{
    private const int ImageBytes = 96 << 20;
    private readonly string _folder = Directory.CreateTempSubdirectory("tss").FullName;
    private readonly FakeTool _tool = new();
    private Lane _lane = null!;
    private HostState _state = null!;
    private StorageSubsystem _subsystem = null!;

    public async ValueTask InitializeAsync()
    {
        _lane = LaneFactory.Create("test");
        _state = new HostState(Path.Combine(_folder, "state"), Path.Combine(_folder, "run"));
        _subsystem = await StorageSubsystem.StartAsync(new SubsystemOptions(
            _lane, _lane.Network, new DiskFactory(), _state, Path.Combine(_folder, "nbd"), Guid.NewGuid(), static _ => { }) { Signatures = _tool });
    }

    public async ValueTask DisposeAsync()
    {
        await _subsystem.StopAsync();
        _lane.Dispose();
        _state.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task A_disk_that_only_the_program_knows_is_not_pooled_until_it_is_reset()
    {
        string path = Write(FakeTool.Upper, FakeTool.Lower);
        PhysicalDiskStatus disk = await RegisterAsync(path);
        Assert.Equal((ManagementError.ForeignSignature, CannotPoolKind.ReservedBySubsystem), (disk.CannotPool!.Value, disk.CannotPoolKind));
        Assert.Contains("an upper layer", disk.CannotPoolReason, StringComparison.Ordinal);
        Assert.Contains("Reset-PhysicalDisk", disk.CannotPoolReason, StringComparison.Ordinal);

        FoundSignatures plan = await _subsystem.PhysicalDisks.PlanResetAsync(disk.UniqueId);
        Assert.Equal(["an upper layer"], plan.Signatures.Select(static signature => signature.Name));
        Assert.Equal(FakeTool.Upper, Read(path, FakeTool.UpperOffset));

        disk = await _subsystem.PhysicalDisks.ResetAsync(disk.UniqueId);
        Assert.Null(disk.CannotPool);
        Assert.Equal(["an upper layer", "a lower layer"], disk.ErasedSignatures.Select(static signature => signature.Name));   // the one that was hidden, too
        Assert.Equal(new string('\0', FakeTool.Upper.Length), Read(path, FakeTool.UpperOffset));
        Assert.Equal(new string('\0', FakeTool.Lower.Length), Read(path, FakeTool.LowerOffset));
    }

    [Fact]
    public async Task Without_the_program_the_own_table_decides_and_a_reset_says_so()
    {
        string path = Write(FakeTool.Upper, "XFSB");
        File.WriteAllBytes(path, [.. Encoding.ASCII.GetBytes("XFSB"), .. File.ReadAllBytes(path)[4..]]);
        _tool.IsInstalled = false;
        PhysicalDiskStatus disk = await RegisterAsync(path);
        Assert.Equal(CannotPoolKind.InsufficientCapacity, disk.CannotPoolKind);

        disk = await _subsystem.PhysicalDisks.ResetAsync(disk.UniqueId);
        Assert.Equal([new DiskSignature(0, 4, "an XFS file system", SignatureKind.Data)], disk.ErasedSignatures);
        Assert.Contains("fake is not installed", Assert.Single(disk.Remarks), StringComparison.Ordinal);
        Assert.Equal(FakeTool.Upper, Read(path, FakeTool.UpperOffset));
    }

    [Fact]
    public async Task A_signature_that_comes_back_ends_a_reset_with_its_name()
    {
        string path = Write(FakeTool.Upper, "");
        PhysicalDiskStatus disk = await RegisterAsync(path);
        _tool.IsStubborn = true;
        ManagementException failure = await Assert.ThrowsAsync<ManagementException>(() => _subsystem.PhysicalDisks.ResetAsync(disk.UniqueId));
        Assert.Contains($"still holds an upper layer at offset 1 MB ({FakeTool.UpperOffset} bytes)", failure.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(BusType.RAID, false, false)]
    [InlineData(BusType.RAID, true, true)]
    [InlineData(BusType.iSCSI, true, false)]
    [InlineData(BusType.FibreChannel, true, false)]
    [InlineData(BusType.USB, false, true)]
    [InlineData(BusType.SATA, false, true)]
    public async Task The_bus_decides_and_a_raid_can_be_forced(BusType bus, bool isForced, bool canPool)
    {
        PhysicalDiskStatus disk = await _subsystem.PhysicalDisks.CreateAsync(
            new RegistrationSpec { Path = Path.Combine(_folder, "d.img"), Overrides = new DiskOverrides(null, bus), IsForced = isForced }, ImageBytes, false);
        Assert.Equal((canPool ? null : ManagementError.SystemManagedDisk, CannotPoolKind.Other), (disk.CannotPool, disk.CannotPoolKind));
        Assert.Equal(bus == BusType.RAID && !canPool, disk.CannotPoolReason.Contains("-Force", StringComparison.Ordinal));
    }

    private Task<PhysicalDiskStatus> RegisterAsync(string path) => _subsystem.PhysicalDisks.RegisterAsync(new RegistrationSpec { Path = path });

    private string Write(string upper, string lower)
    {
        byte[] image = new byte[ImageBytes];
        Encoding.ASCII.GetBytes(upper).CopyTo(image, FakeTool.UpperOffset);
        Encoding.ASCII.GetBytes(lower).CopyTo(image, FakeTool.LowerOffset);
        string path = Path.Combine(_folder, "d.img");
        File.WriteAllBytes(path, image);
        return path;
    }

    // By a program: the host has the image locked.
    private static string Read(string path, long offset)
    {
        ProcessStartInfo start = new(
            "dd", [$"if={path}", "bs=1", $"skip={offset}", $"count={FakeTool.Upper.Length}", "status=none"]) { RedirectStandardOutput = true };
        using Process process = Process.Start(start)!;
        string text = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return text;
    }

    /// <summary>Knows two signatures. The upper one hides the lower one.</summary>
    private sealed class FakeTool : ISignatureTool
    {
        internal const string Upper = "UPPERLAY", Lower = "LOWERLAY";
        internal const long UpperOffset = (1 << 20) + 4092, LowerOffset = 2 << 20;   // the first one crosses a block

        public string Name => "fake";

        internal bool IsInstalled { get; set; } = true;

        internal bool IsStubborn { get; set; }

        public IReadOnlyList<DiskSignature>? List(string path) =>
            !IsInstalled ? null
            : IsStubborn || Read(path, UpperOffset) == Upper ? [new DiskSignature(UpperOffset, Upper.Length, "an upper layer", SignatureKind.Member)]
            : Read(path, LowerOffset) == Lower ? [new DiskSignature(LowerOffset, Lower.Length, "a lower layer", SignatureKind.Data)]
            : [];

        public void ReadPartitionsAgain(string path)
        {
        }
    }
}
