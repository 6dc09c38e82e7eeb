using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Tests.Attaching.Kernel;

/// <summary>
/// The kernel's devices and their connections through the deaths of hosts, on a kernel of our own making. <c>tests/Acceptance/kernel-nbd.sh</c>
/// tries the real one.
/// </summary>
public sealed class KernelNbdAttacherTests : IDisposable
{
    private const string Id = "{11111111-2222-3333-4444-555555555555}";
    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;
    private readonly FakeKernel _kernel = new();
    private SmallNbdServer? _server;

    private string SocketPath => Path.Combine(_root, "server.sock");

    private AttachTarget Target => new(Id, "d", SocketPath, "an export, größer", 4096);

    [Fact]
    public void A_device_reads_from_the_export()
    {
        StartServer(content: 7);
        AttachRecord record = new KernelNbdAttacher(_kernel).Attach(Target, _root);
        Assert.Equal(("KernelNbd", "/dev/nbd0", Id), (record.Method, record.Device, record.Use));
        Assert.Equal<byte?>(7, _kernel.ReadFrom(0));
    }

    [Fact]
    public void A_later_host_takes_the_device_back()
    {
        AttachRecord record = AttachAndDie();
        StartServer(content: 2);
        KernelNbdAttacher later = new(_kernel);
        Assert.True(later.IsIntact(record));
        later.Resume(record, Target);
        Assert.Equal<byte?>(2, _kernel.ReadFrom(0));
        Assert.Equal(1, _kernel.Devices);
    }

    [Fact]
    public void A_later_host_whose_export_answers_late_goes_on_trying()
    {
        AttachRecord record = AttachAndDie();
        new KernelNbdAttacher(_kernel).Resume(record, Target);
        Assert.Null(_kernel.ReadFrom(0));
        StartServer(content: 3);
        Scratch.Eventually("the device is connected again", () => _kernel.ReadFrom(0) == 3);
    }

    [Fact]
    public void A_connection_that_dies_under_a_living_host_is_made_anew()
    {
        StartServer(content: 1);
        new KernelNbdAttacher(_kernel).Attach(Target, _root);
        _server!.Dispose();
        StartServer(content: 2);
        _kernel.Tell(5, 0);
        Scratch.Eventually("the device is connected again", () => _kernel.ReadFrom(0) == 2);
    }

    [Fact]
    public void News_that_was_lost_is_taken_for_the_worst()
    {
        StartServer(content: 1);
        new KernelNbdAttacher(_kernel).Attach(Target, _root);
        _server!.Dispose();
        StartServer(content: 2);
        _kernel.Tell(null);
        Scratch.Eventually("the device is connected again", () => _kernel.ReadFrom(0) == 2);
    }

    [Fact]
    public void A_device_that_is_connected_is_left_alone_when_it_is_attached_again()
    {
        StartServer(content: 1);
        KernelNbdAttacher attacher = new(_kernel);
        AttachRecord record = attacher.Attach(Target, _root);
        attacher.Resume(record, Target);
        Assert.Equal(1, _server!.Accepted);
    }

    [Fact]
    public void A_device_that_a_dead_host_did_not_remember_is_found()
    {
        AttachRecord lost = AttachAndDie();
        StartServer(content: 2);
        Assert.Equal(lost, new KernelNbdAttacher(_kernel).Attach(Target, _root), SameDevice);
        Assert.Equal<byte?>(2, _kernel.ReadFrom(0));
        Assert.Equal(1, _kernel.Devices);
    }

    [Fact]
    public async Task A_device_that_was_let_go_of_is_not_connected_again()
    {
        StartServer(content: 1);
        KernelNbdAttacher attacher = new(_kernel);
        attacher.Detach(attacher.Attach(Target, _root));
        Assert.Equal(0, _kernel.Devices);
        _kernel.Tell(0);
        await Task.Delay(300, TestContext.Current.CancellationToken);
        Assert.Equal(1, _server!.Accepted);
    }

    [Fact]
    public void The_device_of_another_is_neither_taken_nor_disconnected()
    {
        StartServer(content: 1);
        KernelNbdAttacher attacher = new(_kernel);
        AttachRecord record = attacher.Attach(Target, _root);
        _kernel.Disconnect(0);
        attacher.Attach(Target with { UniqueId = "{another}" }, _root);
        Assert.False(attacher.IsIntact(record));
        attacher.Detach(record);
        Assert.Equal<byte?>(1, _kernel.ReadFrom(0));
    }

    [Fact]
    public void Where_the_kernel_refuses_the_reason_is_told_and_nothing_is_left()
    {
        StartServer(content: 1);
        HostPaths paths = new(Path.Combine(_root, "h"));
        using HostState state = new(paths.State, Path.Combine(_root, "run"));
        FakeKernel refusing = new() { ManagementError = "nbd Connect: Operation not permitted" };
        AttachManager manager = new(paths, new AttachStore(state), [new KernelNbdAttacher(refusing)]);
        AttachOutcome expected = new("NbdUri", null, "No block device: KernelNbd: nbd Connect: Operation not permitted.", HasFailed: true);
        Assert.Equal(expected, manager.Attach(Target));
        Assert.Empty(new AttachStore(state).Read());
    }

    public void Dispose()
    {
        _server?.Dispose();
        Directory.Delete(_root, recursive: true);
    }

    private static bool SameDevice(AttachRecord one, AttachRecord other) => (one.Device, one.Use) == (other.Device, other.Use);

    private void StartServer(byte content) => _server = new SmallNbdServer(SocketPath, content);

    /// <summary>A host attaches and dies: its sockets are gone, its attacher is never asked again.</summary>
    private AttachRecord AttachAndDie()
    {
        StartServer(content: 1);
        AttachRecord record = new KernelNbdAttacher(_kernel).Attach(Target, _root);
        _server!.Dispose();
        Assert.Null(_kernel.ReadFrom(0));
        return record;
    }
}
