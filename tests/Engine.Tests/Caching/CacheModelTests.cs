using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Caching;

/// <summary>
/// The rules of a write cache gone through in the engine itself, in small: every sequence of a few steps over a ring of four records, and in
/// the last step of each a stop at every request to a disk, with every subset of what is in the disks' caches kept where that is few. What
/// passes by, what is destaged, what is trimmed and what is replayed meet in every order.
/// </summary>
public class CacheModelTests
{
    private const int Block = 4096;
    private const ulong Seed = 1;
    private const long AfterNs = 40_000_000;   // what goes on by itself has begun by then
    private const int Exhaustive = 4;   // up to so many pending writes, every subset of them is kept once

    /// <summary>
    /// W: write block 0. w: the same, not waited for. O: write another block. B: write blocks 0 and 1, too large for the ring. U: unmap blocks 0
    /// and 1. F: flush. f: the same, not waited for. D: take everything home. d: begin to, up to some request to a disk. x: power cut, nothing in the
    /// disks' caches is kept. X: all of it is. k: the process is killed. L: write, flush and take home as much as goes once round the ring.
    /// </summary>
    private const string Steps = "WwOBUFfDdxXkL";

    private static readonly SpaceScenario s_simple = new(1, 1, true, 4096, 2, CacheBlocks: 16);
    private static readonly SpaceScenario s_mirror = new(1, 2, true, 4096, 2, CacheBlocks: 16);
    private static readonly SpaceScenario s_unchecked = new(1, 2, false, 4096, 2, CacheBlocks: 16);
    private static readonly DestageSettings s_held = new() { Hold = true, StopPercent = 10 };
    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";

    public static TheoryData<string, bool> Worlds => new()
    {
        { nameof(s_simple), false }, { nameof(s_simple), true }, { nameof(s_mirror), false }, { nameof(s_mirror), true }, { nameof(s_unchecked), false },
    };

    [Theory]
    [MemberData(nameof(Worlds))]
    public void No_sequence_of_steps_loses_a_flushed_write_or_brings_an_old_one_back(string world, bool isBackingUsed)
    {
        SpaceScenario scenario = world == nameof(s_simple) ? s_simple : world == nameof(s_mirror) ? s_mirror : s_unchecked;
        int depth = s_isLong ? 4 : 3;
        long states = 0;
        foreach (string steps in Sequences(depth))
        {
            Walk walk = new(scenario, Seed, isBackingUsed);
            string? wrong = walk.Go(steps);
            states += walk.CrashStates;
            Assert.True(wrong is null, $"{steps}: {wrong}");
        }

        TestContext.Current.SendDiagnosticMessage($"{world}, home used: {isBackingUsed}: {states} crash states");
        Assert.True(states > 10_000, $"{states} crash states");
    }

    private static IEnumerable<string> Sequences(int depth)
    {
        IEnumerable<string> sequences = ["W", "w", "B"];
        for (int length = 1; length < depth; length++)
        {
            foreach (string sequence in sequences)
            {
                yield return sequence;
            }

            sequences = [.. sequences.SelectMany(sequence => Steps.Select(step => sequence + step))];
        }

        foreach (string sequence in sequences)
        {
            yield return sequence;
        }
    }

    /// <summary>One sequence in one world.</summary>
    private sealed class Walk(SpaceScenario scenario, ulong seed, bool isBackingUsed)
    {
        private readonly Random _random = new((int)seed);
        private SpaceWorld _world = (SpaceWorld)scenario.NewWorld(seed);
        private BlockOracle _oracle = new(scenario.Length);
        private uint _value;
        private int _open;        // requests under way
        private string? _wrong;

        internal long CrashStates { get; private set; }

        internal string? Go(string steps)
        {
            Begin(_world, isNew: true);
            if (isBackingUsed)
            {
                Take('W');
                Take('F');
                Take('D');
            }

            for (int i = 0; i < steps.Length - 1; i++)
            {
                Take(steps[i]);
            }

            foreach (SimDisk disk in _world.Disks)
            {
                disk.OnRequest = (_, _, _) => StopHere();
            }

            Take(steps[^1]);
            SpaceWorld last = _world;
            last.Lane.PumpWhile(() => _open > 0, 60_000_000_000);
            last.Lane.Advance(AfterNs);
            foreach (SimDisk disk in last.Disks)
            {
                disk.OnRequest = null;
            }

            StopHere();
            _world.Release();
            return _wrong;
        }

        private void Begin(SpaceWorld world, bool isNew)
        {
            string rejected = world.Lane.Run(world.Open(isNew));
            _wrong ??= rejected.Length > 0 ? $"does not open: {rejected}" : null;
            if (world.Cache is { } cache)
            {
                cache.TakeSettings(s_held);
            }
        }

        private void Take(char step)
        {
            if (_wrong is not null)
            {
                return;
            }

            switch (step)
            {
                case 'L':
                    Lap();
                    break;
                case 'W' or 'w':
                    Write(0, 1).Forget();
                    break;
                case 'O':
                    Write(5, 1).Forget();
                    break;
                case 'B':
                    Write(0, 2).Forget();
                    break;
                case 'U':
                    Unmap(0, 2).Forget();
                    break;
                case 'F' or 'f':
                    Flush().Forget();
                    break;
                case 'D' or 'd':
                    _world.Cache!.TakeSettings(new DestageSettings { IdleNs = 0, StartPercent = 1, StopPercent = 0 });
                    break;
                case 'x' or 'X':
                    Replace((SpaceWorld)_world.Cut(_world.Lane.Seed + 1, (_, _, _) => step == 'X'), isKill: false);
                    break;
                default:
                    Replace((SpaceWorld)_world.Kill(_world.Lane.Seed + 1, () => true), isKill: true);
                    break;
            }

            if (step == 'D')
            {
                _world.Lane.PumpWhile(() => _world.Cache is { DirtyBytes: > 0 }, 60_000_000_000);
            }
            else if (step == 'd')
            {
                long until = _world.Disks.Sum(disk => disk.Requests) + _random.Next(8);
                _world.Lane.PumpWhile(() => _world.Disks.Sum(disk => disk.Requests) < until && _world.Cache is { DirtyBytes: > 0 }, AfterNs);
            }

            if (char.IsUpper(step))
            {
                _world.Lane.PumpWhile(() => _open > 0, 60_000_000_000);
                _wrong ??= _open > 0 ? "does not end" : Compare(_world, _oracle, observe: false);
            }
        }

        private void Lap()
        {
            foreach (char step in "ODODODOFD")
            {
                Take(step);
            }

            _world.Cache!.TakeSettings(s_held);
        }

        private void Replace(SpaceWorld stopped, bool isKill)
        {
            _world.Release();
            _open = 0;
            _world = stopped;
            _oracle = Stopped(isKill);
            Begin(stopped, isNew: false);
            _wrong ??= Compare(stopped, _oracle, observe: true);
        }

        private BlockOracle Stopped(bool isKill)
        {
            BlockOracle oracle = _oracle.Clone();
            if (isKill)
            {
                oracle.ProcessCrash();
            }
            else
            {
                oracle.PowerCut();
            }

            return oracle;
        }

        /// <summary>Stops copies of the world here in every way there is, and opens them.</summary>
        private void StopHere()
        {
            int[] pending = _world.PendingWrites();
            int total = pending.Sum();
            int cuts = total <= Exhaustive ? 1 << total : 4;
            for (int cut = 0; cut <= cuts && _wrong is null; cut++)
            {
                int subset = total <= Exhaustive ? cut : _random.Next(1 << Math.Min(total, 30));
                bool isKill = cut == cuts;
                SpaceWorld stopped = (SpaceWorld)(isKill
                    ? _world.Kill(seed + 100, () => _random.Next(2) == 0)
                    : _world.Cut(seed + 100, (disk, write, _) => (subset >> (KeptWrites.Index(pending, disk, write) % 31) & 1) != 0));
                Judge(stopped, Stopped(isKill), isKill ? "kill" : $"power cut, {subset:x} of {total} writes kept");
                stopped.Release();
            }
        }

        private void Judge(SpaceWorld stopped, BlockOracle oracle, string how)
        {
            CrashStates++;
            string rejected = stopped.Lane.Run(stopped.Open(isNew: false));
            string? wrong = rejected.Length > 0 ? $"does not open: {rejected}" : Compare(stopped, oracle, observe: true);
            if (wrong is null && _random.Next(4) == 0)
            {
                CrashStates++;
                oracle.PowerCut();
                SpaceWorld again = (SpaceWorld)stopped.Cut(seed + 200, (_, _, _) => false);
                if (scenario.Copies > 1 && _random.Next(2) == 0)
                {
                    again.Remove(_random.Next(scenario.Copies));   // what was served is on every copy
                }

                rejected = again.Lane.Run(again.Open(isNew: false));
                wrong = rejected.Length > 0 ? $"does not open again: {rejected}" : Compare(again, oracle, observe: true);
                again.Release();
            }

            _wrong ??= wrong is null ? null : $"{how}: {wrong}";
        }

        private static string? Compare(SpaceWorld world, BlockOracle oracle, bool observe)
        {
            IoBuffer buffer = world.Lane.Buffers.Rent(8 * Block);
            IoError error = world.Lane.Run(world.Store.Read(0, buffer));
            string? wrong = error != IoError.None ? $"read: {error}" : observe ? oracle.Observe(0, buffer.Span) : oracle.CheckServing(0, buffer.Span);
            world.Lane.Buffers.Return(buffer);
            return wrong;
        }

        private async LaneTask Write(int block, int blocks)
        {
            (SpaceWorld world, BlockOracle oracle, uint value) = (_world, _oracle, ++_value);
            long offset = block * (long)Block;
            IoBuffer buffer = world.Lane.Buffers.Rent(blocks * Block);
            BlockOracle.Fill(buffer.Span, offset, value);
            oracle.Issue(offset, buffer.Length, value);
            _open++;
            IoError error = await world.Store.Write(offset, buffer, WriteFlags.None);
            oracle.Complete(offset, buffer.Length, value, error == IoError.None);
            End(world, error);
        }

        private async LaneTask Unmap(int block, int blocks)
        {
            (SpaceWorld world, BlockOracle oracle) = (_world, _oracle);
            long offset = block * (long)Block;
            oracle.Issue(offset, blocks * Block, 0);
            _open++;
            IoError error = await world.Store.Unmap(offset, blocks * Block);
            oracle.Complete(offset, blocks * Block, 0, error == IoError.None);
            End(world, error);
        }

        private async LaneTask Flush()
        {
            (SpaceWorld world, BlockOracle oracle) = (_world, _oracle);
            (uint[] Values, long Issues) begun = oracle.BeginFlush();
            List<(long First, int Count, uint Value)> inFlight = oracle.InFlight();
            _open++;
            IoError error = await world.Store.Flush();
            if (error == IoError.None)
            {
                oracle.EndFlush(begun, inFlight);
            }

            End(world, error);
        }

        private void End(SpaceWorld world, IoError error)
        {
            if (world == _world)
            {
                _open--;
                _wrong ??= error == IoError.None ? null : $"a request failed: {error}";
            }
        }
    }
}
