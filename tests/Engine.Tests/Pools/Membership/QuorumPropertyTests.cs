using System.Globalization;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>
/// A pool of two to eight disks, of which some hold no metadata, two hosts, and whatever can happen to them: disks pulled, put back, carried to the other
/// host; the state folder lost or unwritable; power cut or host killed in the middle of anything. In all cases every
/// pool that serves holds everything that was ever acknowledged or seen by one that served: there is one lineage. And with
/// all disks in one place the pool opens.
/// </summary>
public sealed class QuorumPropertyTests
{
    private static readonly int s_seeds = int.Parse(
        System.Environment.GetEnvironmentVariable("TIERSPACES_QUORUM_SEEDS") ?? "2000", CultureInfo.InvariantCulture);

    [Fact]
    public void There_is_one_lineage_and_nothing_acknowledged_is_lost()
    {
        Dictionary<string, int> sometimes = [];
        for (int seed = 1; seed <= s_seeds; seed++)
        {
            new Scenario((ulong)seed, sometimes).Run();
        }

        foreach (string wanted in (string[])["opened without a disk", "incomplete", "new witness", "crash in open", "crash in commit",
            "crash in rejoin", "two hosts up", "evicted", "rejoined", "quorum lost", "raised", "crash in raise", "all metadata disks lost"])
        {
            Assert.True(sometimes.GetValueOrDefault(wanted) > 0, $"'{wanted}' was never reached: {string.Join(", ", sometimes)}");
        }
    }

    private sealed class Site(SimHostState host)
    {
        internal SimHostState Host { get; set; } = host;

        internal List<SimMedia> Plugged { get; } = [];

        internal SimLane? Lane { get; set; }

        internal List<SimDisk> Disks { get; set; } = [];

        internal Pool? Pool { get; set; }
    }

    private sealed class Scenario(ulong seed, Dictionary<string, int> sometimes)
    {
        private readonly SimLane _choices = new(seed * 7919);
        private readonly HashSet<int> _promised = [];   // commits that every serving pool must hold
        private readonly Site[] _sites = [new(new SimHostState()), new(new SimHostState())];
        private readonly List<SimMedia> _shelf = [];
        private readonly List<string> _log = [];
        private ulong _nextSeed = seed * 1000;
        private PoolId _id;
        private int _nextCommit = 1;
        private int _crashOdds = 4;   // one operation in so many is cut in its middle

        internal void Run()
        {
            try
            {
                Begin();
                if (seed % 4 == 0)
                {
                    Wander();
                }
                else
                {
                    for (int episode = 2 + _choices.Next(3); episode > 0; episode--)
                    {
                        Split();
                    }
                }

                End();
            }
            catch (Exception error)
            {
                throw new InvalidOperationException($"seed {seed}: {error.Message}\n{string.Join("\n", _log)}", error);
            }
        }

        private void Begin()
        {
            int disks = seed % 12 == 3 ? 10 : seed % 12 is 6 or 9 ? 6 + _choices.Next(3) : 2 + _choices.Next(3);   // more than 5: some hold no metadata
            Site site = _sites[0];
            site.Lane = new SimLane(_nextSeed++);
            site.Plugged.AddRange(Enumerable.Range(1, disks).Select(i => new SimMedia($"dev{i}", 8 << 20, seed % 8 == 0 ? 512 : 4096)));
            site.Disks = [.. site.Plugged.Select(medium => new SimDisk(site.Lane, medium))];
            site.Pool = site.Lane.Run(Pool.Create(
                Environment(site), new NewPoolSpec { FriendlyName = "p", FormatVersion = (ushort)(seed % 5 == 0 ? 1 : 2) },
                [.. site.Disks.Select(static disk => new NewDiskSpec(disk, "d"))]));
            _id = site.Pool.Id;
            Log($"{disks} disks, format {site.Pool.State.Pool!.FormatVersion}");
        }

        private void Wander()
        {
            int events = 0;
            for (int step = 0; step < 30 && events < 5 + _choices.Next(4); step++)
            {
                events += Step() ? 1 : 0;
            }
        }

        // A change of members is cut in its middle, the disks are dealt out to both hosts, and both try to go on.
        private void Split()
        {
            Site site = _sites[0].Pool is null ? _sites[1] : _sites[0];
            _crashOdds = 2;
            if (_choices.Next(3) > 0 && site.Plugged.Count > 1)
            {
                int count = site.Plugged.Count > 4 ? 1 + _choices.Next(site.Plugged.Count - 2) : 1;
                HashSet<string>? metadata = site.Pool is { } pool && _choices.Next(3) == 0 ? KeysOfMetadata(site, pool) : null;
                for (int more = metadata?.Count ?? count; more > 0; more--)
                {
                    int index = metadata is null ? _choices.Next(site.Plugged.Count) : site.Plugged.FindIndex(medium => metadata.Contains(medium.Key));
                    _shelf.Add(Unplug(site, index));
                    Log($"pull {_shelf[^1].Key} from {Name(site)}");
                }
            }
            else
            {
                Plug(site);
            }

            Raise(site);
            Commit(site);
            foreach (Site up in _sites.Where(static up => up.Lane is not null))
            {
                Stop(up, _choices.Next(2) == 0);
            }

            Deal();
            _crashOdds = 4;
            int first = _choices.Next(2);
            foreach (Site next in (Site[])[_sites[first], _sites[1 - first]])
            {
                Open(next);
                Commit(next);
                if (_choices.Next(3) == 0)
                {
                    Rejoin(next);
                    Commit(next);
                }
            }
        }

        private static HashSet<string> KeysOfMetadata(Site site, Pool pool) =>
            [.. pool.View.MetadataDisks.Select(pool.Disk).OfType<SimDisk>().Where(disk => site.Disks.Contains(disk) && !disk.Pulled)
                .Select(static disk => disk.Media.Key)];

        private void Deal()
        {
            SimMedia[] all = [.. _shelf, .. _sites[0].Plugged, .. _sites[1].Plugged];
            _shelf.Clear();
            _sites[0].Plugged.Clear();
            _sites[1].Plugged.Clear();
            foreach (SimMedia medium in all)
            {
                List<SimMedia> to = _choices.Next(7) switch { < 3 => _sites[0].Plugged, < 6 => _sites[1].Plugged, _ => _shelf };
                to.Add(medium);
            }

            if (_choices.Next(5) == 0)
            {
                _sites[_choices.Next(2)].Host = new SimHostState();
            }

            string[] hands = [.. _sites.Select(static site => string.Join(",", site.Plugged.Select(static medium => medium.Key)))];
            Log($"deal A: {hands[0]} B: {hands[1]}");
        }

        private static PoolEnvironment Environment(Site site) => new(site.Lane!, new StateFolder(site.Lane!, site.Host), default);

        /// <summary>One thing happens; true when it is a membership event.</summary>
        private bool Step()
        {
            Site site = _sites[_choices.Next(2)];
            switch (_choices.Next(10))
            {
                case 0 or 1 or 2:
                    Commit(site);
                    return false;
                case 3:
                    return Pull(site);
                case 4:
                    return Plug(site);
                case 5:
                    return site.Pool is null && Open(site);
                case 6:
                    return Carry(site);
                case 7:
                    return Crash(site, "crash");
                case 8:
                    return LoseFolder(site);
                default:
                    return Open(site) || Rejoin(site);
            }
        }

        private void Commit(Site site)
        {
            if (site.Pool is not { } pool)
            {
                return;
            }

            int number = _nextCommit++;
            bool isBare = pool.View.MetadataDisks.All(disk => pool.Disk(disk) is not SimDisk { Pulled: false });
            CommitResult? result = AttemptCommit(site, pool.Commit(Records(number)), "commit");
            Count(isBare && result?.Succeeded == true ? "all metadata disks lost" : "a metadata disk there");
            Log($"commit {number} on {Name(site)}: {result?.Status.ToString() ?? "crash"} {result?.Reason}");
            if (result?.Succeeded == true)
            {
                _promised.Add(number);
                Check(pool, $"commit {number}");
                Count(_sites.All(static other => other.Pool is not null) ? "two hosts up" : "one host up");
            }
            else if (result?.Status == CommitStatus.NoQuorum)
            {
                Count("quorum lost");
                Stop(site, keepCache: true);
            }
        }

        // Sometimes a group of several blocks.
        private MetadataRecord[] Records(int number)
        {
            Guid padding = new(99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            JobRecord large = new(padding, new byte[JobRecord.MaxStateBytes]);
            return [PoolWorld.Job(number, 1), .. Enumerable.Repeat(large, _choices.Next(3) == 0 ? _choices.Next(9) : 0)];
        }

        private void Raise(Site site)
        {
            if (site.Pool is { } pool && _choices.Next(2) == 0)
            {
                bool isOld = !pool.View.MembersVote;
                CommitResult? raised = AttemptCommit(site, pool.Raise(), "raise");
                Log($"raise on {Name(site)}: {raised?.Status.ToString() ?? "crash"} {raised?.Reason}");
                Count(isOld && raised?.Succeeded == true ? "raised" : "not raised");
                if (raised?.Status == CommitStatus.NoQuorum)
                {
                    Stop(site, keepCache: true);
                }
            }
        }

        private bool Pull(Site site)
        {
            if (site.Plugged.Count == 0)
            {
                return false;
            }

            int index = _choices.Next(site.Plugged.Count);
            _shelf.Add(Unplug(site, index));
            Log($"pull {_shelf[^1].Key} from {Name(site)}");
            if (site.Pool is not null && _choices.Next(2) == 0)
            {
                Commit(site);
                Count("evicted");
            }

            return true;
        }

        private bool Plug(Site site)
        {
            if (_shelf.Count == 0)
            {
                return false;
            }

            int index = _choices.Next(_shelf.Count);
            PlugIn(site, _shelf[index]);
            _shelf.RemoveAt(index);
            Rejoin(site);
            return true;
        }

        private bool Carry(Site from)
        {
            Site to = from == _sites[0] ? _sites[1] : _sites[0];
            if (from.Plugged.Count == 0)
            {
                return false;
            }

            SimMedia medium = Unplug(from, _choices.Next(from.Plugged.Count));
            Log($"carry {medium.Key} to {Name(to)}");
            PlugIn(to, medium);
            return true;
        }

        private bool LoseFolder(Site site)
        {
            if (site.Pool is not null)
            {
                // A folder that cannot be written any more while the host is up.
                site.Host.OnWrite = static _ => throw new IOException("full");
                Log($"folder of {Name(site)} unwritable");
                return true;
            }

            site.Host = new SimHostState();
            Log($"folder of {Name(site)} lost");
            return true;
        }

        private bool Open(Site site)
        {
            if (site.Pool is not null || site.Plugged.Count == 0)
            {
                return false;
            }

            site.Lane = new SimLane(_nextSeed++);
            site.Disks = [.. site.Plugged.Select(medium => new SimDisk(site.Lane, medium))];
            site.Host.OnWrite = null;
            List<PoolScan> scans = [.. site.Disks.Select(disk => site.Lane.Run(PoolScan.Scan(site.Lane, disk)))];
            PoolOpenResult? opened = Attempt(site, Pool.Open(Environment(site), _id, scans), "open");
            string disks = string.Join(",", site.Plugged.Select(static medium => medium.Key));
            Log($"open on {Name(site)} with {disks}: {opened?.Status.ToString() ?? "crash"} {opened?.Reason} view {Show(opened?.Pool)}");
            if (opened?.Pool is not { } pool)
            {
                Count(opened is null ? "open crashed" : "incomplete");
                return true;
            }

            Count(opened.Missing.Count > 0 ? "opened without a disk" : "opened whole");
            Count(pool.View.Witness != Guid.Empty && site.Host.ReadFile(WitnessRecord.FileName(_id, pool.View.Witness)) is not null ? "new witness"
                : "no witness");
            site.Pool = pool;
            Check(pool, "open");
            foreach (int number in Enumerable.Range(1, _nextCommit - 1).Where(number => PoolWorld.ValueOf(pool.State, number) != 0))
            {
                _promised.Add(number);   // seen, so it must stay
            }

            return true;
        }

        private bool Rejoin(Site site)
        {
            if (site.Pool is not { } pool)
            {
                return false;
            }

            foreach (SimDisk disk in site.Disks.Where(static disk => !disk.Pulled).ToArray())
            {
                if (site.Lane is not { } lane)
                {
                    break;   // a crash on the way
                }

                PoolScan scan = lane.Run(PoolScan.Scan(lane, disk));
                if (scan.Label is null || pool.View.Contains(scan.Label.Number))
                {
                    continue;
                }

                if (!pool.OutsideDisks.Contains(scan.Label.Number))
                {
                    pool.Offer(scan);
                }

                CommitResult? result = AttemptCommit(site, pool.Rejoin(scan.Label.Number), "rejoin");
                Log($"rejoin {disk.Media.Key} on {Name(site)}: {result?.Status.ToString() ?? "crash"} {result?.Reason} view {Show(site.Pool)}");
                Count(result?.Succeeded == true ? "rejoined" : "not rejoined");
            }

            return false;
        }

        private bool Crash(Site site, string where)
        {
            if (site.Lane is null)
            {
                return false;
            }

            bool kill = _choices.Next(2) == 0;
            Log($"{where} of {Name(site)} ({(kill ? "kill" : "power")})");
            Stop(site, kill);
            return true;
        }

        // A power cut or a kill: what is in flight and in the caches survives as the choices say.
        private void Stop(Site site, bool keepCache)
        {
            for (int i = 0; i < site.Plugged.Count; i++)
            {
                SimDisk? disk = site.Disks.Find(disk => !disk.Pulled && disk.Media.Key == site.Plugged[i].Key);
                SimMedia medium = disk?.SnapshotWithInFlight() ?? site.Plugged[i];
                site.Plugged[i] = keepCache ? medium : CutCache(medium);
            }

            site.Lane?.Buffers.Dispose();   // nothing of a crashed world runs any more
            site.Lane = null;
            site.Pool = null;
            site.Disks = [];
            site.Host = site.Host.Snapshot(keepCache);
        }

        private SimMedia CutCache(SimMedia medium)
        {
            int percent = _choices.Next(3) switch { 0 => 0, 1 => 100, _ => 50 };
            return medium.Cut((_, _) => _choices.Next(100) < percent);
        }

        private SimMedia Unplug(Site site, int index)
        {
            SimMedia medium = site.Plugged[index];
            site.Plugged.RemoveAt(index);
            if (site.Disks.Find(disk => !disk.Pulled && disk.Media.Key == medium.Key) is { } disk)
            {
                disk.Pulled = true;
                medium = disk.Media;
            }

            return CutCache(medium);
        }

        private static void PlugIn(Site site, SimMedia medium)
        {
            site.Plugged.Add(medium);
            if (site.Lane is { } lane)
            {
                site.Disks.Add(new SimDisk(lane, medium));
            }
        }

        private CommitResult? AttemptCommit(Site site, LaneTask<CommitResult> operation, string name) =>
            Attempt(site, Box(operation), name)?.Result;

        private static async LaneTask<Boxed> Box(LaneTask<CommitResult> operation) => new(await operation);

        private sealed record Boxed(CommitResult Result);

        // Runs an operation to its end, or, sometimes, to a crash in its middle.
        private T? Attempt<T>(Site site, LaneTask<T> operation, string name)
            where T : class
        {
            T? result = null;
            bool ended = false;
            Watch().Forget();
            int steps = _choices.Next(_crashOdds) == 0 ? _choices.Next(_choices.Next(2) == 0 ? 20 : 150) : int.MaxValue;
            for (; !ended && steps > 0; steps--)
            {
                if (!site.Lane!.Step())
                {
                    throw new InvalidOperationException($"{name} hangs");
                }
            }

            if (!ended)
            {
                Count($"crash in {name}");
                Crash(site, $"crash in {name}");
            }

            return result;

            async LaneTask Watch()
            {
                T value = await operation;
                if (site.Lane is not null)
                {
                    result = value;
                }

                ended = true;
            }
        }

        private void Check(Pool pool, string when)
        {
            foreach (int number in _promised)
            {
                Assert.True(PoolWorld.ValueOf(pool.State, number) != 0, $"{when}: commit {number} is lost");
            }
        }

        // All disks come together in one place: the pool opens and holds everything.
        private void End()
        {
            Log("end");
            foreach (Site site in _sites.Where(static site => site.Lane is not null))
            {
                Stop(site, keepCache: true);
            }

            Site last = _sites[_choices.Next(2)];
            SimMedia[] all = [.. _shelf, .. _sites[0].Plugged, .. _sites[1].Plugged];
            last.Plugged.Clear();
            last.Plugged.AddRange(all);
            SimLane lane = new(_nextSeed++);
            last.Lane = lane;
            PoolScan[] scans = [.. all.Select(medium => lane.Run(PoolScan.Scan(lane, new SimDisk(lane, medium))))];
            PoolOpenResult opened = lane.Run(Pool.Open(Environment(last), _id, scans));
            Assert.True(opened.Pool is not null, $"does not open: {opened.Status} {opened.Reason}");
            Check(opened.Pool, "end");
            Assert.True(lane.Run(opened.Pool.Commit(PoolWorld.Job(1000, 1))).Succeeded);
            lane.Buffers.Dispose();
        }

        private string Name(Site site) => site == _sites[0] ? "A" : "B";

        private static string Show(Pool? pool) => pool is null
            ? "-"
            : $"{pool.View.Rank} {{{string.Join(",", pool.View.Members.Select(static member => member.Disk))}}} w {pool.View.Witness.ToString()[..4]}";

        private void Log(string line) => _log.Add(line);

        private void Count(string what) => sometimes[what] = sometimes.GetValueOrDefault(what) + 1;
    }
}
