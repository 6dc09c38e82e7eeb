using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Lanes.Uring;

namespace TierSpaces.Engine.Tests.Lanes;

/// <summary>Sizes and offsets of what is shared with the kernel, against its headers.</summary>
public class AbiTests
{
    [Fact]
    public void Sizes_are_those_of_the_kernel()
    {
        Assert.Equal(64, Unsafe.SizeOf<SubmissionEntry>());
        Assert.Equal(16, Unsafe.SizeOf<CompletionEntry>());
        Assert.Equal(120, Unsafe.SizeOf<RingParameters>());
        Assert.Equal(24, Unsafe.SizeOf<EnterArgument>());
        Assert.Equal(32, Unsafe.SizeOf<ResourceRegistration>());
        Assert.Equal(16, Unsafe.SizeOf<FileUpdate>());
        Assert.Equal(32, Unsafe.SizeOf<ResourceUpdate>());
        Assert.Equal(16, Unsafe.SizeOf<IoVector>());
        Assert.Equal(56, Unsafe.SizeOf<MessageHeader>());
        Assert.Equal(16, Unsafe.SizeOf<Timespec>());
        Assert.Equal(256, Unsafe.SizeOf<FileStatus>());
        Assert.Equal(120, Unsafe.SizeOf<FileSystemStatus>());
        Assert.Equal(12, Unsafe.SizeOf<PeerCredentials>());
    }

    [Fact]
    public void A_ring_takes_a_limit_of_its_threads()
    {
        using Ring? ring = UringProbe.CreateRing(8, 16, UringProbe.Setups, out string? reason);
        Assert.SkipWhen(ring is null, reason ?? "");
        (uint disks, uint others) = ring.LimitWorkers(300);
        Assert.SkipWhen(disks == 0, "The kernel is older than 5.15.");
        Assert.InRange(disks, 1U, others);
        Assert.Equal((300U, 300U), ring.LimitWorkers(0));
    }

    [Theory]
    [InlineData(typeof(SubmissionEntry), "Opcode=0 Flags=1 Priority=2 Descriptor=4 Offset=8 Address=16 Length=24 OperationFlags=28 UserData=32 BufferIndex=40")]
    [InlineData(typeof(CompletionEntry), "UserData=0 Result=8 Flags=12")]
    [InlineData(typeof(EnterArgument), "SignalMask=0 SignalMaskSize=8 MinimumWaitUs=12 Timeout=16")]
    [InlineData(typeof(ResourceRegistration), "Count=0 Flags=4 Reserved=8 Data=16 Tags=24")]
    [InlineData(typeof(ResourceUpdate), "Offset=0 Reserved=4 Data=8 Tags=16 Count=24 Reserved2=28")]
    [InlineData(typeof(MessageHeader), "Name=0 NameLength=8 Vectors=16 VectorCount=24 Control=32 ControlLength=40 Flags=48")]
    public void Offsets_are_those_of_the_kernel(Type type, string expected)
    {
        IEnumerable<string> fields = type.GetFields(BindingFlags.Instance | BindingFlags.NonPublic)
            .Select(field => (field.Name, Offset: (int)Marshal.OffsetOf(type, field.Name)))
            .OrderBy(field => field.Offset)
            .Select(field => $"{field.Name}={field.Offset}");
        Assert.Equal(expected, string.Join(' ', fields));
    }

    [Fact]
    public void The_answers_of_the_kernel_make_sense()
    {
        Assert.Equal(0, Libc.StatusOfPath("/proc/self/exe", follow: true, out FileStatus status));
        Assert.True(status.IsRegularFile);
        Assert.Equal(new FileInfo(File.ResolveLinkTarget("/proc/self/exe", true)!.FullName).Length, status.Size);
        Assert.Equal(0, Libc.StatusOfPath("/dev", follow: true, out FileStatus folder));
        Assert.False(folder.IsRegularFile || folder.IsBlockDevice || folder.IsSocket);
    }
}
