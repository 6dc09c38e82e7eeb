using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>I/O that mirrors and rings share, over copies that answer as a test says.</summary>
public sealed class CopyIoTests
{
    [Theory]
    [InlineData("5 5 5", 0, 0)]
    [InlineData("5 5 5", 2, 2)]
    [InlineData("5 3 3", 2, 2)]
    [InlineData("5 3 4", 2, 1)]
    [InlineData("- 9 -", 0, 1)]
    [InlineData("- - -", 1, -1)]
    public void The_least_busy_copy_that_can_be_read_is_chosen_and_of_equal_ones_the_first_from_the_start_on(string loads, int first, int expected) =>
        Assert.Equal(expected, CopyIo.LeastBusy(new Copies(loads), 0, first));

    [Fact]
    public void All_copies_are_written_before_one_has_ended_and_the_outcome_says_how_each_did()
    {
        Copies copies = new("1 1 1");
        LaneTask<CopyOutcome> write = CopyIo.WriteAll(copies, 0, default, version: 7);
        Assert.Equal([0, 1, 2], copies.Asked);
        copies.End(2, IoError.None);
        copies.End(0, IoError.Io);
        Assert.False(write.IsCompleted);
        copies.End(1, IoError.None);
        CopyOutcome outcome = write.GetAwaiter().GetResult();
        Assert.Equal(new CopyOutcome(3, 7, IoError.Io, IoError.None, IoError.None), outcome);
        Assert.False(outcome.IsWhole);
    }

    [Theory]
    [InlineData(1, true)]
    [InlineData(2, false)]
    public void Copies_that_do_not_exist_are_not_missed(int copies, bool isWhole) =>
        Assert.Equal(isWhole, new CopyOutcome(copies, 0, IoError.None, IoError.DeviceGone, IoError.DeviceGone).IsWhole);

    [Theory]
    [InlineData(IoError.DeviceGone, IoError.DeviceGone, IoError.NoSpace, IoError.NoSpace)]
    [InlineData(IoError.DeviceGone, IoError.NoSpace, IoError.Io, IoError.NoSpace)]
    [InlineData(IoError.DeviceGone, IoError.DeviceGone, IoError.DeviceGone, IoError.Io)]
    public void The_error_of_a_write_that_no_copy_took_is_that_of_a_disk_that_answered(IoError first, IoError second, IoError third, IoError expected) =>
        Assert.Equal(expected, new CopyOutcome(3, 0, first, second, third).Error);

    [Fact]
    public void Copies_are_read_one_after_the_other_until_one_answers()
    {
        Copies copies = new("1 - 1");
        LaneTask<IoError> read = CopyIo.ReadAny(copies, 0, except: -1, default);
        copies.End(0, IoError.Io);
        Assert.Equal([0, 2], copies.Asked);
        copies.End(2, IoError.None);
        Assert.Equal(IoError.None, read.GetAwaiter().GetResult());
    }

    [Fact]
    public void A_copy_that_has_failed_already_is_not_read_again()
    {
        Copies copies = new("1 -");
        Assert.Equal(IoError.Io, CopyIo.ReadAny(copies, 0, except: 0, default).GetAwaiter().GetResult());
        Assert.Empty(copies.Asked);
    }

    /// <summary>Copies with these loads, a dash for one that cannot be read; each request ends when the test says so.</summary>
    private sealed class Copies(string loads) : ICopies<int>
    {
        private readonly string[] _loads = loads.Split(' ');
        private readonly Dictionary<int, LaneCompletion<IoError>> _open = [];

        public int Count => _loads.Length;

        internal List<int> Asked { get; } = [];

        public bool IsReadable(int range, int copy) => _loads[copy] != "-";

        public int LoadOf(int range, int copy) => IsReadable(range, copy) ? int.Parse(_loads[copy], System.Globalization.CultureInfo.InvariantCulture) : 0;

        public LaneTask<IoError> ReadCopy(int range, int copy, IoBuffer target) => Ask(copy);

        public LaneTask<IoError> WriteCopy(int range, int copy, IoBuffer source) => Ask(copy);

        internal void End(int copy, IoError error) => _open[copy].Complete(error);

        private LaneTask<IoError> Ask(int copy)
        {
            Asked.Add(copy);
            _open[copy] = LaneCompletion<IoError>.Rent();
            return _open[copy].Task;
        }
    }
}
