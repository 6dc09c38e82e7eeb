using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Jobs;

public sealed class StorageJobTests
{
    private const long Second = 1_000_000_000;
    private readonly SimLane _lane = new(11);
    private readonly List<JobProgress?> _saved = [];
    private long _clientRequests;

    [Fact]
    public void A_job_goes_through_its_steps_and_ends_completed()
    {
        JobList list = new(_lane);
        StorageJob job = Start(list, [new Step(_lane, "One", 10), new Step(_lane, "Two", 30)]);

        _lane.Run(job.WaitForEnd());

        Assert.Equal((JobState.Completed, 100, 40L << 20, 40L << 20), (job.State, job.PercentComplete, job.BytesProcessed, job.BytesTotal));
        Assert.Equal("One done; Two done", job.Status);
        Assert.Null(_saved[^1]);
        Assert.Equal(40 * 10_000_000L, job.ElapsedNs);
    }

    [Fact]
    public void Percent_bytes_and_time_left_follow_the_work()
    {
        StorageJob job = Start(new JobList(_lane), [new Step(_lane, "One", 100)]);

        _lane.Advance(250_000_001);   // 25 pieces of 10 ms

        Assert.Equal((JobState.Running, 25, 25L << 20, 100L << 20), (job.State, job.PercentComplete, job.BytesProcessed, job.BytesTotal));
        Assert.InRange(job.TimeLeftNs!.Value, 740_000_000, 760_000_000);
        Assert.Equal("One", job.Status);
    }

    [Fact]
    public void A_stopped_job_carries_its_piece_to_the_end_and_is_forgotten()
    {
        Step step = new(_lane, "One", 100);
        StorageJob job = Start(new JobList(_lane), [step]);
        _lane.Advance(5_000_000);   // in the middle of the first piece

        LaneTask<Nothing> stop = job.Stop(JobState.Terminated);
        Assert.Equal(JobState.ShuttingDown, job.State);
        _lane.Run(stop);

        Assert.Equal((JobState.Terminated, 1, 1L << 20), (job.State, step.Pieces, job.BytesProcessed));
        Assert.Equal((1, 100L << 20), (job.PercentComplete, job.BytesTotal));   // how much of it was done stays to be read
        Assert.Null(_saved[^1]);
    }

    [Fact]
    public void A_suspended_job_goes_on_from_its_cursor_in_another_process()
    {
        JobList list = new(_lane);
        StorageJob job = Start(list, [new Step(_lane, "One", 5), new Step(_lane, "Two", 20)]);
        _lane.Advance(95_000_000);
        _lane.Run(list.Stop(_ => true, JobState.Suspended));
        JobProgress progress = _saved[^1]!;
        Assert.Equal((JobState.Suspended, "Two", 5L, 5L << 20), (job.State, progress.Step, progress.Cursor, progress.BytesProcessed));
        progress = JobProgress.TryDecode(progress.Encode())!;

        Step two = new(_lane, "Two", 20);
        StorageJob again = Start(new JobList(_lane), [new Step(_lane, "Before", 3), new Step(_lane, "One", 5), two], progress);
        _lane.Run(again.WaitForEnd());

        Assert.Equal((JobState.Completed, 15), (again.State, two.Pieces));
        Assert.Equal(job.TimeSubmitted, again.TimeSubmitted);
        Assert.True(again.ElapsedNs >= 240_000_000, $"{again.ElapsedNs}");
    }

    [Fact]
    public void The_cursor_is_saved_every_ten_seconds_and_never_ahead_of_the_work()
    {
        StorageJob job = Start(new JobList(_lane), [new Step(_lane, "One", 5000)]);   // 50 s of work

        _lane.Advance(45 * Second);

        Assert.InRange(_saved.Count, 4, 6);
        Assert.All(_saved, saved => Assert.True(saved!.Cursor << 20 <= job.BytesProcessed));
        Assert.Equal(0, _saved[0]!.Cursor);
        Assert.InRange(_saved[^1]!.Cursor, 3900, 4100);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_step_that_fails_ends_the_job_with_the_reason(bool throws)
    {
        StorageJob job = Start(new JobList(_lane), [new Step(_lane, "One", 5) { FailsAt = 2, Throws = throws }, new Step(_lane, "Two", 5)]);

        _lane.Run(job.WaitForEnd());

        Assert.Equal((JobState.Exception, IoError.Io, "the disk is gone"), (job.State, job.Error, job.ErrorDescription));
        Assert.Equal(2L << 20, job.BytesProcessed);
        Assert.Null(_saved[^1]);
    }

    [Fact]
    public void A_job_that_has_ended_stays_listed_for_ten_minutes()
    {
        JobList list = new(_lane);
        StorageJob job = Start(list, [new Step(_lane, "One", 1)]);
        _lane.Run(job.WaitForEnd());

        _lane.Advance(599 * Second);
        Assert.Same(job, Assert.Single(list.All));
        _lane.Advance(Second);
        Assert.Empty(list.All);
    }

    [Fact]
    public void While_clients_are_at_work_a_job_takes_a_tenth_of_the_time()
    {
        StorageJob job = Start(new JobList(_lane), [new Step(_lane, "One", 10_000)]);
        Load(10 * Second).Forget();

        _lane.Advance(10 * Second);
        long busy = job.BytesProcessed >> 20;
        _lane.Advance(10 * Second);
        long idle = (job.BytesProcessed >> 20) - busy;

        Assert.InRange(busy, 95, 105);      // of 1000 pieces that fit into ten seconds
        Assert.InRange(idle, 985, 1000);    // and all of them when no client is at work
    }

    [Fact]
    public void Jobs_of_a_pool_share_that_tenth()
    {
        JobList list = new(_lane);
        StorageJob one = Start(list, [new Step(_lane, "One", 10_000)]);
        StorageJob two = Start(list, [new Step(_lane, "One", 10_000)]);
        Load(10 * Second).Forget();

        _lane.Advance(10 * Second);

        Assert.InRange((one.BytesProcessed + two.BytesProcessed) >> 20, 90, 110);
    }

    [Fact]
    public void A_byte_rate_is_kept()
    {
        StorageJob job = Start(new JobList(_lane), [new Step(_lane, "One", 10_000)], pacing: new JobPacing { BytesPerSecondMax = 20 << 20 });

        _lane.Advance(10 * Second);

        Assert.InRange(job.BytesProcessed >> 20, 195, 205);
    }

    [Fact]
    public void A_pacer_yields_from_a_request_under_way_until_a_pause_in_which_there_was_none()
    {
        (long Completed, int UnderWay) clients = (0, 0);
        JobPacer pacer = new(_lane, static () => new JobPacing(), () => clients, static () => 1);
        Assert.Equal((false, false), (pacer.IsYielding, IsYieldingAfterPause()));
        clients = (0, 1);
        Assert.Equal((true, true), (pacer.IsYielding, IsYieldingAfterPause()));
        clients = (1, 0);
        Assert.Equal((true, true, false), (pacer.IsYielding, IsYieldingAfterPause(), IsYieldingAfterPause()));

        bool IsYieldingAfterPause()
        {
            Pause(pacer).Forget();
            _lane.Advance(Second);
            return pacer.IsYielding;
        }

        static async LaneTask Pause(JobPacer pacer) => await pacer.Pause(4096, 1_000_000);
    }

    [Fact]
    public void Pieces_run_and_pause_on_the_lane_of_the_virtual_disk_and_a_stop_reaches_them_at_a_break()
    {
        OtherLane other = new(_lane, new SimLane(12));
        BrokenStep step = new(other.Sim);
        StorageJob job = Start(new JobList(_lane), [step], diskLane: other);
        other.PumpBoth(50);

        Assert.Equal((JobState.Running, step.Bytes), (job.State, job.BytesProcessed));
        Assert.True(step.Bytes > 0);
        Assert.Equal(BrokenStep.Total, job.BytesTotal);

        LaneTask<Nothing> stop = job.Stop(JobState.Terminated);
        other.PumpBoth(5);
        _lane.Run(stop);

        Assert.Equal((JobState.Terminated, true), (job.State, step.IsStopped));
        Assert.Equal(step.Bytes, job.BytesProcessed);
    }

    private async LaneTask Load(long forNs)
    {
        long end = _lane.NowNs + forNs;
        while (_lane.NowNs < end)
        {
            await _lane.Delay(1_000_000);
            _clientRequests++;
        }
    }

    private StorageJob Start(JobList list, IJobStep[] steps, JobProgress? resumed = null, JobPacing? pacing = null, IDiskLane? diskLane = null)
    {
        JobSpec spec = new()
        {
            Id = _lane.NewGuid(),
            Kind = JobKind.Repair,
            Name = "Repair",
            Pool = Guid.Empty,
            VirtualDisk = _lane.NewGuid(),
            DiskLane = diskLane,
            Steps = steps,
            Resumed = resumed,
            Save = progress =>
            {
                _saved.Add(progress);
                return LaneTask.FromResult(default(Nothing));
            },
        };
        return list.Start(spec, new JobPacer(_lane, () => pacing ?? new JobPacing(), () => (_clientRequests, 0), () => list.Running(Guid.Empty).Count()));
    }

    /// <summary>So many pieces of a mebibyte and ten milliseconds.</summary>
    private sealed class Step(SimLane lane, string name, int pieces) : IJobStep
    {
        public string Name => name;

        public long BytesTotal => (long)pieces << 20;

        public string Outcome => $"{name} done";

        internal int Pieces { get; private set; }

        internal int FailsAt { get; init; } = -1;

        internal bool Throws { get; init; }

        public async LaneTask<JobAdvance> Advance(long cursor)
        {
            await lane.Delay(10_000_000);
            if (cursor == FailsAt)
            {
                return Throws ? throw new IOException("the disk is gone") : new JobAdvance(cursor, 0, false, IoError.Io, "the disk is gone");
            }

            Pieces++;
            return new JobAdvance(cursor + 1, 1 << 20, cursor + 1 == pieces);
        }
    }

    /// <summary>A lane of a virtual disk that is turned together with the one of the job.</summary>
    private sealed class OtherLane(SimLane control, SimLane sim) : IDiskLane
    {
        internal SimLane Sim => sim;

        public ILane Lane => sim;

        public LaneTask<T> Run<T>(Func<LaneTask<T>> action)
        {
            LaneCompletion<T> answer = LaneCompletion<T>.Rent();
            LaneTask<T> task = answer.Task;
            sim.Post(() => Answer(action, answer).Forget());
            return task;
        }

        internal void PumpBoth(int milliseconds)
        {
            for (int i = 0; i < milliseconds; i++)
            {
                control.Advance(1_000_000);
                sim.Advance(1_000_000);
            }
        }

        private async LaneTask Answer<T>(Func<LaneTask<T>> action, LaneCompletion<T> answer)
        {
            T result = await action();
            control.Post(() => answer.Complete(result));
        }
    }

    /// <summary>One long piece with breaks, a millisecond for each mebibyte.</summary>
    private sealed class BrokenStep(SimLane lane) : IJobStep
    {
        internal const long Total = 1000L << 20;

        public string Name => "One";

        public bool IsOnDiskLane => true;

        public long BytesTotal { get; private set; } = -1;

        public JobBreaks Breaks { get; } = new();

        internal long Bytes { get; private set; }

        internal bool IsStopped { get; private set; }

        public long Measure() => Total;

        public async LaneTask<JobAdvance> Advance(long cursor)
        {
            BytesTotal = Total;
            while (Bytes < Total)
            {
                await lane.Delay(1_000_000);
                Bytes += 1 << 20;
                if (!await Breaks.Done(1 << 20))
                {
                    IsStopped = true;
                    break;
                }
            }

            return new JobAdvance(cursor, Bytes, !IsStopped);
        }
    }
}
