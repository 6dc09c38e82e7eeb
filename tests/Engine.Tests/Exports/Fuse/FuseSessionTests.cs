using System.Buffers.Binary;
using System.Diagnostics;
using System.Reflection;
using System.Text;
using TierSpaces.Engine.Exports.Fuse;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Exports.Nbd;
using TierSpaces.Engine.Tests.Lanes;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Exports.Fuse;

public sealed class FuseSessionTests
{
    private const ulong Offered = 0x7f_ffff_ffff | (1UL << 39);
    private const int NoSpace = 28;
    private const int InputOutput = 5;
    private const int Invalid = 22;
    private const int ReadOnly = 30;
    private const int NotSupported = 95;
    private const int NotKnown = 38;

    private readonly SimLane _lane = new(1);
    private readonly TestKernel _kernel = new();
    private readonly List<string> _notices = [];
    private readonly TestStore _store;
    private NbdExport _export;
    private FuseChannel _channel = new(3, "Data", isTakenOver: false);
    private FuseSession _session;

    public FuseSessionTests()
    {
        _store = new TestStore(_lane, 4 << 20, 512);
        (_export, _session) = Start(isReadOnly: false);
    }

    [Fact]
    public void The_kernel_is_told_what_the_session_keeps_to()
    {
        _kernel.Ask(TestKernel.Init(Offered));
        (_, int errno, byte[] data) = Only();
        Assert.Equal((0, 64, "", true), (errno, data.Length, _channel.Begun.Result, _channel.Begun.IsCompleted));
        ulong chosen = BinaryPrimitives.ReadUInt32LittleEndian(data.AsSpan(12)) | ((ulong)BinaryPrimitives.ReadUInt32LittleEndian(data.AsSpan(32)) << 32);
        Assert.Equal((1UL << 0) | (1 << 5) | (1 << 15) | (1 << 18) | (1 << 22) | (1 << 30) | (1UL << 39), chosen);
        Assert.Equal((1u << 20, 256), (BinaryPrimitives.ReadUInt32LittleEndian(data.AsSpan(20)), BinaryPrimitives.ReadUInt16LittleEndian(data.AsSpan(28))));
    }

    [Fact]
    public void A_kernel_that_does_not_deliver_again_is_refused()
    {
        _kernel.Ask(TestKernel.Init(Offered & ~(1UL << 39)));
        Assert.Equal(NotSupported, Only().Errno);
        Assert.Contains("FUSE_HAS_RESEND", _channel.Begun.Result, StringComparison.Ordinal);
    }

    [Fact]
    public void The_folder_has_one_file_of_the_size_of_the_disk()
    {
        _kernel.Ask(
            TestKernel.Request(FuseOperation.LookUp, 1, "Data\0"u8, 1), TestKernel.Request(FuseOperation.LookUp, 2, "Dat\0"u8, 1),
            TestKernel.Request(FuseOperation.LookUp, 3, Encoding.ASCII.GetBytes(new string('x', 255) + '\0'), 1),
            TestKernel.Request(FuseOperation.GetAttributes, 4, new byte[16]), TestKernel.Request(FuseOperation.GetAttributes, 5, new byte[16], 1),
            TestKernel.Request((FuseOperation)22, 6, new byte[8]));
        (ulong, int, byte[] Data)[] answers = [.. _kernel.Answers.Select(TestKernel.Decode)];
        Assert.Equal([(1, 0), (2, 2), (3, 2), (4, 0), (5, 0), (6, NotKnown)], answers.Select(static one => (one.Item1, one.Item2)));
        Assert.Equal((128, 4 << 20), (answers[0].Data.Length, BinaryPrimitives.ReadInt64LittleEndian(answers[0].Data.AsSpan(48))));
        Assert.Equal((104, 4 << 20), (answers[3].Data.Length, BinaryPrimitives.ReadInt64LittleEndian(answers[3].Data.AsSpan(24))));
        Assert.Equal(0x4000u, BinaryPrimitives.ReadUInt32LittleEndian(answers[4].Data.AsSpan(76)) & 0xf000);
        _store.ExtraLength = 1 << 20;
        _kernel.Ask(TestKernel.Request(FuseOperation.GetAttributes, 7, new byte[16]));
        Assert.Equal(5 << 20, BinaryPrimitives.ReadInt64LittleEndian(TestKernel.Decode(_kernel.Answers[^1]).Data.AsSpan(24)));
    }

    /// <summary>Writes and reads of every size, in any order of completion, against an array.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(2_000_000)]
    public void What_is_written_is_read(int delayNs)
    {
        _store.MaxDelayNs = delayNs;
        Random random = new(1);
        byte[] model = new byte[4 << 20];
        int[] sizes = [512, 4096, 64 << 10, (64 << 10) + 512, 1 << 20];
        for (ulong unique = 1; unique < 400; unique++)
        {
            int size = sizes[random.Next(sizes.Length)];
            long offset = random.Next((model.Length - size) / 512) * 512;
            switch (random.Next(5))
            {
                case 0:
                    byte[] data = new byte[size];
                    random.NextBytes(data);
                    data.CopyTo(model, offset);
                    Assert.Equal(size, BinaryPrimitives.ReadInt32LittleEndian(Ask(unique, TestKernel.Write(unique, offset, data))));
                    break;
                case 1:
                    model.AsSpan((int)offset, size).Clear();
                    Assert.Empty(Ask(unique, TestKernel.Allocate(unique, offset, size, random.Next(2) == 0 ? 3u : 0x10u)));
                    break;
                case 2:
                    Assert.Empty(Ask(unique, TestKernel.Sync(unique)));
                    break;
                default:
                    Assert.True(model.AsSpan((int)offset, size).SequenceEqual(Ask(unique, TestKernel.Read(unique, offset, size))));
                    break;
            }
        }

        Assert.True(model.AsSpan((int)(model.Length - 4096)).SequenceEqual(Ask(1000, TestKernel.Read(1000, model.Length - 4096, 1 << 20))));   // to the end
        Assert.Empty(Ask(1001, TestKernel.Read(1001, model.Length, 4096)));
        AssertNothingHeld();
    }

    /// <summary>A hole reads as zeros, whatever it covers. A block that is unmapped in part keeps its bytes, so such a hole is zeroed.</summary>
    [Theory]
    [InlineData(8192, 4096, "unmap 8192+4096")]
    [InlineData(512, 4096, "zero 512+4096 None")]
    [InlineData(4096, 512, "zero 4096+512 None")]
    public void A_hole_of_whole_blocks_is_unmapped_and_any_other_is_zeroed(long offset, long length, string call)
    {
        _kernel.Ask(TestKernel.Allocate(1, offset, length, 3));
        Assert.Equal(0, Only().Errno);
        Assert.Equal(call, Assert.Single(_store.Calls));
        Assert.Equal(1, _export.Counters.Unmaps);
    }

    [Fact]
    public void Requests_that_the_disk_does_not_take_are_refused_before_the_store_sees_them()
    {
        _kernel.Ask(
            TestKernel.Read(1, 100, 512), TestKernel.Write(2, 512, new byte[100]), TestKernel.Write(3, 4 << 20, new byte[512]),
            TestKernel.Allocate(4, 0, 512, 0), TestKernel.Allocate(5, 0, 0, 3), TestKernel.Allocate(6, 0, (4 << 20) + 512, 3),
            TestKernel.Read(7, -512, 512), [.. TestKernel.Write(8, 0, new byte[512]).AsSpan(0, 500)]);
        Assert.Equal(
            [(1, Invalid), (2, Invalid), (3, NoSpace), (4, NotSupported), (5, Invalid), (6, NoSpace), (7, Invalid), (8, Invalid)],
            _kernel.Answers.Select(static answer => ((int)TestKernel.Decode(answer).Unique, TestKernel.Decode(answer).Errno)));
        Assert.Empty(_store.Calls);
        AssertNothingHeld();
    }

    [Theory]
    [InlineData(IoError.NoSpace, NoSpace)]
    [InlineData(IoError.Io, InputOutput)]
    [InlineData(IoError.DeviceGone, InputOutput)]
    [InlineData(IoError.TimedOut, InputOutput)]
    public void An_error_of_the_store_is_answered_at_once(IoError error, int errno)
    {
        _store.Answer = error;
        _kernel.Ask(TestKernel.Write(1, 0, new byte[4096]), TestKernel.Read(2, 0, 4096), TestKernel.Sync(3));
        Assert.Equal([(1, errno, 0), (2, errno, 0), (3, errno, 0)], _kernel.Answers.Select(TestKernel.Decode).Select(
            static answer => ((int)answer.Unique, answer.Errno, answer.Data.Length)));
        Assert.Equal(3, _export.Counters.Errors);
        AssertNothingHeld();
    }

    [Fact]
    public void A_read_only_disk_is_not_changed()
    {
        _lane.Run(_session.Drain());
        (_export, _session) = Start(isReadOnly: true);
        _kernel.Ask(TestKernel.Write(1, 0, new byte[4096]), TestKernel.Allocate(2, 0, 4096, 3), TestKernel.Read(3, 0, 4096));
        Assert.Equal([ReadOnly, ReadOnly, 0], _kernel.Answers.Select(static answer => TestKernel.Decode(answer).Errno));
    }

    [Fact]
    public void A_request_that_a_closing_store_refuses_is_left_to_the_next_session()
    {
        _store.Answer = IoError.ShutDown;
        _kernel.Ask(TestKernel.Write(1, 0, new byte[4096]));
        Assert.Empty(_kernel.Answers);
        _lane.Run(_session.Drain());
        _store.Answer = IoError.None;
        (_export, _session) = Start(isReadOnly: false);
        (ulong unique, int errno, _) = Only();
        Assert.Equal((0UL, -7), (unique, errno));   // FUSE_NOTIFY_RESEND
        AssertNothingHeld();
    }

    [Fact]
    public void A_session_that_takes_over_asks_for_everything_again_and_one_that_goes_on_does_not()
    {
        _lane.Run(_session.Drain());
        _channel = new FuseChannel(3, "Data", isTakenOver: true);
        (_export, _session) = Start(isReadOnly: false);
        Assert.Equal(-7, Only().Errno);
        _lane.Run(_session.Drain());
        (_export, _session) = Start(isReadOnly: false);
        Assert.Empty(_kernel.Answers);
    }

    [Fact]
    public void A_drained_session_has_answered_what_it_took_and_takes_no_more()
    {
        _store.IsHeld = true;
        _kernel.Ask(TestKernel.Write(1, 0, new byte[4096]));
        bool isDrained = false;
        DrainAsync().Forget();
        _kernel.Ask(TestKernel.Read(2, 0, 4096));
        _lane.Advance(1_000_000);
        Assert.Equal((false, 1), (isDrained, _kernel.Waiting));
        _store.ReleaseAll();
        _lane.Advance(1_000_000);
        Assert.Equal((true, true, 1), (isDrained, _kernel.IsClosed, _kernel.Waiting));
        Assert.Equal(1ul, Only().Unique);
        Assert.Equal(0, _lane.Buffers.Outstanding);

        async LaneTask DrainAsync()
        {
            await _session.Drain();
            isDrained = true;
        }
    }

    [Fact]
    public void A_suspended_export_takes_nothing_until_it_is_resumed()
    {
        _lane.Run(_export.Suspend());
        _kernel.Ask(TestKernel.Read(1, 0, 4096));
        _lane.Advance(1_000_000);
        Assert.Empty(_kernel.Answers);
        _export.Resume();
        _lane.Advance(1_000_000);
        Assert.Equal(1ul, Only().Unique);
    }

    [Fact]
    public void Requests_beyond_the_memory_of_a_session_wait_in_the_kernel()
    {
        _store.IsHeld = true;
        _kernel.Ask([.. Enumerable.Range(1, 100).Select(static unique => TestKernel.Read((ulong)unique, 0, 1 << 20))]);
        _lane.Advance(1_000_000);
        Assert.Equal(52, _kernel.Waiting);   // 48 MiB are under way
        _store.ReleaseAll();
        _lane.Advance(1_000_000);
        Assert.Equal((0, 100), (_kernel.Waiting, _kernel.Answers.Count));
        _kernel.Answers.Clear();
        _store.IsHeld = true;
        _kernel.Ask([.. Enumerable.Range(1, 300).Select(static unique => TestKernel.Read((ulong)unique, 0, 512))]);
        _lane.Advance(1_000_000);
        Assert.Equal(44, _kernel.Waiting);   // 256 requests are under way
        _store.ReleaseAll();
        _lane.Advance(1_000_000);
        Assert.Equal((0, 300), (_kernel.Waiting, _kernel.Answers.Count));
        AssertNothingHeld();
    }

    [Fact]
    public void An_aborted_connection_ends_the_reading_and_drops_what_is_under_way()
    {
        _store.IsHeld = true;
        _kernel.Ask(TestKernel.Read(1, 0, 4096));
        (_kernel.IsAborted, _kernel.Refuses) = (true, -19);
        _kernel.Tell();
        _store.ReleaseAll();
        _lane.Advance(1_000_000);
        Assert.Empty(_kernel.Answers);
        Assert.Empty(_notices);
        AssertNothingHeld();
    }

    [Fact]
    public void An_exception_before_the_store_took_a_request_ends_that_request_alone()
    {
        _store.Throws = new InvalidOperationException("no");
        _kernel.Ask(TestKernel.Write(1, 0, new byte[4096]));
        Assert.Equal(InputOutput, Only().Errno);
        Assert.Contains("no", Assert.Single(_notices), StringComparison.Ordinal);
        _store.Throws = null;
        Assert.Equal(4096, BinaryPrimitives.ReadInt32LittleEndian(Ask(2, TestKernel.Write(2, 0, new byte[4096]))));
        AssertNothingHeld();
    }

    [Theory]
    [InlineData(false, 4096, false)]
    [InlineData(false, 4096, true)]
    [InlineData(false, 1 << 20, true)]
    [InlineData(true, 4096, false)]
    [InlineData(true, 4096, true)]
    [InlineData(true, 1 << 20, true)]
    public void Steady_state_allocates_nothing(bool isWrite, int size, bool completesLater)
    {
        Assert.SkipWhen(
            typeof(NbdServer).Assembly.GetCustomAttribute<DebuggableAttribute>() is { IsJITOptimizerDisabled: true },
            "Debug builds allocate every async frame; build with --configuration Release.");
        QuietLane lane = new();
        QuietStore store = new(completesLater);
        TestKernel kernel = new() { OnlyCounts = true };
        FuseSession.Start(lane, kernel, new NbdExport(Guid.Empty, "disk", "", store, false), new FuseChannel(3, "d", isTakenOver: false), static _ => { });
        lane.Run();
        byte[][] batch =
        [
            .. Enumerable.Range(0, 32).Select(i => isWrite ? TestKernel.Write((ulong)i, i * size, new byte[size]) : TestKernel.Read((ulong)i, i * size, size)),
        ];
        Play(50);
        int answered = kernel.Answered;
        Assert.Equal(0, AllocationMeter.LeastOf(() => Play(20)));
        Assert.Equal(5 * 20 * 32, kernel.Answered - answered);

        void Play(int times)
        {
            for (int i = 0; i < times; i++)
            {
                kernel.Ask(batch);
                lane.Run();
                store.CompleteAll();
                lane.Run();
            }
        }
    }

    private (NbdExport Export, FuseSession Session) Start(bool isReadOnly)
    {
        _kernel.Answers.Clear();
        NbdExport export = new(Guid.NewGuid(), "disk", "", _store, isReadOnly);
        FuseSession session = FuseSession.Start(_lane, _kernel, export, _channel, _notices.Add);
        _lane.Advance(1_000_000);
        return (export, session);
    }

    private (ulong Unique, int Errno, byte[] Data) Only() => TestKernel.Decode(Assert.Single(_kernel.Answers));

    /// <summary>The data of the answer to a request, which succeeds.</summary>
    private byte[] Ask(ulong unique, byte[] request)
    {
        _kernel.Answers.Clear();
        _kernel.Ask(request);
        _lane.Advance(5_000_000);
        (ulong answered, int errno, byte[] data) = Only();
        Assert.Equal((unique, 0), (answered, errno));
        return data;
    }

    private void AssertNothingHeld()
    {
        _lane.Run(_session.Drain());
        Assert.Equal((0, 0, 0L), (_lane.Buffers.Outstanding, _store.Running, _export.Counters.Connections));
    }
}
