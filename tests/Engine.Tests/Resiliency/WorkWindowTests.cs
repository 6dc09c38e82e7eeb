using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Pieces of background work in flight: several while no client is at work, one beside clients.</summary>
public sealed class WorkWindowTests
{
    private const int Pieces = 40;

    private readonly SimLane _lane = new(3);
    private readonly StubPacer _pacer = new();
    private int _begun;
    private int _inFlight;
    private int _most;
    private Func<int, IoError> _errorOf = static _ => IoError.None;

    [Theory]
    [InlineData(false, WorkWindow.DepthMax)]
    [InlineData(true, 1)]
    public void So_many_pieces_are_in_flight(bool isYielding, int expected)
    {
        _pacer.Yields = () => isYielding;
        WorkWindow window = Run();
        Assert.Equal((expected, Pieces, Pieces * 4096L, Pieces), (_most, _begun, window.Bytes, _pacer.Told));
    }

    [Fact]
    public void Beside_clients_a_burst_ends_as_a_whole_before_the_pause()
    {
        _pacer.Yields = static () => true;
        _pacer.Burst = 5;
        _pacer.OnDone = () => Assert.Equal(0, _inFlight);
        WorkWindow window = Run();
        Assert.Equal((5, Pieces, Pieces * 4096L, Pieces / 5), (_most, _begun, window.Bytes, _pacer.Told));
    }

    [Fact]
    public void When_clients_come_no_piece_begins_before_those_in_flight_have_ended()
    {
        bool isOver = false;
        _pacer.Yields = () =>
        {
            isOver |= _begun == 20;
            _most = isOver && _inFlight == 0 ? 0 : _most;   // from here on what is in flight beside clients counts
            return isOver;
        };
        Run();
        Assert.Equal((1, Pieces), (_most, _begun));
    }

    [Fact]
    public void After_a_stop_or_an_error_no_piece_begins_and_those_in_flight_end()
    {
        _pacer.StopAfter = 5;
        WorkWindow window = Run();
        Assert.Equal((true, 0, 5), (window.IsStopped, _inFlight, _pacer.Told));
        Assert.InRange(_begun, 5, 5 + WorkWindow.DepthMax);
        Assert.Equal(_begun * 4096L, window.Bytes);
    }

    [Fact]
    public void The_bytes_are_those_before_the_first_piece_that_failed()
    {
        _errorOf = static piece => piece == 10 ? IoError.Io : IoError.None;
        WorkWindow window = Run();
        Assert.Equal((IoError.Io, 10 * 4096L, 0), (window.Error, window.Bytes, _inFlight));
        Assert.InRange(_begun, 11, 10 + WorkWindow.DepthMax);
    }

    private WorkWindow Run()
    {
        WorkWindow window = new(_pacer, static () => false);
        _lane.Run(Work(window));
        return window;
    }

    private async LaneTask<Nothing> Work(WorkWindow window)
    {
        while (_begun < Pieces && await window.Room())
        {
            window.Add(Piece(_begun++), 4096);
        }

        await window.Drain();
        return default;
    }

    private async LaneTask<IoError> Piece(int number)
    {
        _most = Math.Max(_most, ++_inFlight);
        await _lane.Delay(1_000_000 + _lane.Next(1_000_000));
        _inFlight--;
        return _errorOf(number);
    }

    private sealed class StubPacer : IWorkPacer
    {
        internal Func<bool> Yields { get; set; } = static () => false;

        internal int StopAfter { get; set; }

        internal int Told { get; private set; }

        internal Action OnDone { get; set; } = static () => { };

        public bool IsYielding => Yields();

        public int Burst { get; set; } = 1;

        public LaneTask<bool> Done(long bytes)
        {
            OnDone();
            return LaneTask.FromResult(++Told != StopAfter);
        }
    }
}
