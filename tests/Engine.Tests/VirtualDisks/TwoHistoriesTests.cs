using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>
/// The images of a pool and the folder of its host are copied, and both copies go on: whatever disks of the two come together, one history is
/// served alone, or none; disks of the other are neither read nor written.
/// </summary>
public sealed class TwoHistoriesTests
{
    private const int Length = 2 << 20;

    [Theory]
    [InlineData(2, 1, 1)]
    [InlineData(3, 1, 1)]
    [InlineData(4, 1, 1)]
    [InlineData(3, 1, 3)]
    [InlineData(3, 4, 1)]
    [InlineData(3, 2, 5)]
    public void Every_mixture_of_two_histories_is_one_of_them_or_none(int disks, int sessionsOfA, int sessionsOfB)
    {
        PoolWorld before = Create(disks, seed: 1);
        Write(before, 'O');
        Stop(before);
        PoolWorld[] sides = [GoOn(before.Restart(2), 'A', sessionsOfA), GoOn(before.Restart(3), 'B', sessionsOfB)];
        int opened = 0;
        for (int mixture = 0; mixture < 2 << disks; mixture++)
        {
            PoolWorld owner = sides[mixture & 1];
            PoolWorld mixed = owner.Restart(4, [.. Enumerable.Range(0, disks).Select(disk => (disk, sides[(mixture >> (disk + 1)) & 1].CopyOf(disk)))]);
            ulong[] images = Array.ConvertAll(mixed.Disks, disk => disk.Media.Hash());
            string rejected = mixed.Lane.Run(mixed.Open());
            if (mixed.Pool is not { } pool)
            {
                Assert.Equal(images, Array.ConvertAll(mixed.Disks, disk => disk.Media.Hash()));
                mixed.Release();
                continue;
            }

            char history = pool.State.Jobs.ContainsKey(new Guid('A', 0, 0, new byte[8])) ? 'A' : 'B';
            int strangers = Enumerable.Range(0, disks).Count(disk => (((mixture >> (disk + 1)) & 1) == 0) != (history == 'A'));
            Assert.Equal(disks - strangers, pool.View.Members.Length);
            if (rejected.Length == 0 && strangers < 2)   // else rows of the virtual disk may be on disks of the other history alone
            {
                opened++;
                Assert.Equal(history, ServedBy(mixed));
                Write(mixed, 'C');
                Stop(mixed);
            }

            for (int disk = 0; disk < disks; disk++)
            {
                bool isStranger = (((mixture >> (disk + 1)) & 1) == 0) != (history == 'A');
                Assert.Equal(isStranger, images[disk] == mixed.Disks[disk].Media.Hash());
            }

            mixed.Release();
        }

        Assert.True(opened >= 2, "each history opens with all of its disks");
    }

    [Fact]
    public void A_disk_of_another_history_is_named_with_what_to_do()
    {
        PoolWorld before = Create(3, seed: 1);
        Write(before, 'O');
        Stop(before);
        PoolWorld a = GoOn(before.Restart(2), 'A', 1);
        PoolWorld b = GoOn(before.Restart(3), 'B', 1);
        PoolWorld mixed = a.Restart(4, (1, b.CopyOf(1)));
        PoolScan[] scans = [.. mixed.Disks.Select(disk => mixed.Lane.Run(Pool.Scan(mixed.Environment, disk)))];
        PoolOpenResult opened = mixed.Lane.Run(Pool.Open(mixed.Environment, scans[0].Label!.Pool, scans));
        RejectedDisk stranger = Assert.Single(opened.Refused);
        Assert.True(stranger.IsOtherHistory);
        Assert.Same(mixed.Disks[1], stranger.Disk);
        Assert.Contains("another history", stranger.Reason, StringComparison.Ordinal);
        Assert.Contains("Reset-PhysicalDisk", stranger.Reason, StringComparison.Ordinal);
        Assert.Equal([new DiskNumber(2)], opened.Pool!.MissingDisks);
        Assert.Empty(opened.Pool.OutsideDisks);
    }

    [Fact]
    public void Two_halves_of_two_histories_are_refused_and_both_are_named()
    {
        PoolWorld before = Create(4, seed: 1);
        Stop(before);
        PoolWorld a = GoOn(before.Restart(2), 'A', 1);
        PoolWorld b = GoOn(before.Restart(3), 'B', 1);
        PoolWorld mixed = before.Restart(4, (0, a.CopyOf(0)), (1, a.CopyOf(1)), (2, b.CopyOf(2)), (3, b.CopyOf(3)));   // with the witness of neither
        string rejected = mixed.Lane.Run(mixed.Open());
        Assert.Contains("2 histories", rejected, StringComparison.Ordinal);
        Assert.Contains("disks 1, 2 (session 2) and disks 3, 4 (session 2)", rejected, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(1, 4)]
    [InlineData(4, 1)]
    [InlineData(70, 1)]
    public void A_disk_of_another_history_does_not_return_while_the_host_runs(int sessionsOfA, int sessionsOfB)
    {
        PoolWorld before = Create(3, seed: 1);
        Write(before, 'O');
        Stop(before);
        PoolWorld a = GoOn(before.Restart(2, (2, null)), 'A', sessionsOfA);
        PoolWorld b = GoOn(before.Restart(3), 'B', sessionsOfB);
        a = a.Restart(4, (2, null));
        Assert.Equal("", a.Lane.Run(a.Open()));
        SimMedia stranger = b.CopyOf(2);
        ulong image = stranger.Hash();
        string rejected = a.Lane.Run(a.Return(2, stranger));
        if (sessionsOfA < 64)
        {
            Assert.Contains("another history", rejected, StringComparison.Ordinal);
            Assert.Equal(image, stranger.Hash());
            Assert.Equal(2, a.Pool!.View.Members.Length);
        }
        else
        {
            Assert.Equal("", rejected);   // too old to tell what it is: nothing of it is read
        }

        Assert.Equal('A', ServedBy(a));
        a = a.Restart(5, (2, null));
        Assert.Equal("", a.Lane.Run(a.Open()));
        Assert.Equal("", a.Lane.Run(a.Return(2, before.CopyOf(2))));   // the disk of this history
        Assert.Equal('A', ServedBy(a));
    }

    // An opening is stopped anywhere, by a power cut or by a kill; the pool goes on without one of its disks, and then the disk is there again: it has
    // lost nothing, and belongs to no other history.
    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    public void A_disk_that_was_away_after_a_cut_opening_is_taken_for_what_it_is(int disks)
    {
        int cases = 0;
        for (int point = 1; ; point++)
        {
            PoolWorld made = Create(disks, seed: 1);
            Write(made, 'O');
            Stop(made);
            PoolWorld world = made.Restart(2);
            made.Release();
            int left = point;
            Array.ForEach(world.Disks, disk => disk.OnRequest = (_, _, _) => left--);
            bool ended = false;
            Watch().Forget();
            world.Lane.PumpWhile(() => !ended && left > 0, 60_000_000_000);
            if (ended)
            {
                break;
            }

            for (int variant = 0; variant < 3; variant++)
            {
                PoolWorld cut = variant == 2 ? world.Kill(3, static () => true) : world.Cut(3, (disk, _, _) => variant == 1 || disk == point % disks);
                for (int away = 0; away < disks; away++)
                {
                    PoolWorld without = cut.Restart(4, (away, null));
                    string rejected = without.Lane.Run(without.Open());
                    if (rejected.Length > 0)
                    {
                        without.Release();
                        continue;   // two disks: the other one and a witness that is behind
                    }

                    cases++;
                    Stop(without);
                    PoolWorld whole = without.Restart(5, (away, cut.CopyOf(away)));
                    PoolScan[] scans = [.. whole.Disks.Select(disk => whole.Lane.Run(Pool.Scan(whole.Environment, disk)))];
                    PoolOpenResult opened = whole.Lane.Run(Pool.Open(whole.Environment, scans[0].Label!.Pool, scans));
                    Assert.True(opened.Refused.Count == 0,
                        $"point {point}, variant {variant}, disk {away + 1}: {string.Join(" ", opened.Refused.Select(disk => disk.Reason))}");
                    DiskNumber number = new((ushort)(away + 1));
                    CommitResult joined = whole.Lane.Run(opened.Pool!.Rejoin(number));
                    Assert.True(joined == CommitResult.Committed || opened.Pool.View.Contains(number),
                        $"point {point}, variant {variant}, disk {away + 1}: {joined.Reason}");
                    Assert.DoesNotContain(
                        opened.Pool.State.Spaces.Values, space =>
                            space.Description.Kind == SpaceKind.Data && space.EnumerateRows().Any(row => row.Row.HasStale));
                    whole.Release();
                    without.Release();
                }

                cut.Release();
            }

            world.Release();

            async LaneTask Watch()
            {
                await world.Open();
                ended = true;
            }
        }

        Assert.True(cases > 100, $"{cases} cases");
    }

    private static char ServedBy(PoolWorld world)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(1 << 20);
        char? served = null;
        for (long at = 0; at < Length; at += buffer.Length)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Store.Read(at, buffer)));
            served ??= (char)buffer.Span[0];
            Assert.Equal(-1, buffer.Span.IndexOfAnyExcept((byte)served));
        }

        world.Lane.Buffers.Return(buffer);
        return served!.Value;
    }

    private static PoolWorld Create(int disks, ulong seed)
    {
        PoolWorld world = PoolWorld.New(disks, 48 << 20, 4096, seed);
        Assert.Equal("", world.Lane.Run(world.Create(Spec)));
        return world;
    }

    /// <summary>One copy goes on: it is filled with a letter, and its records become more than those of the other.</summary>
    private static PoolWorld GoOn(PoolWorld world, char letter, int sessions)
    {
        Assert.Equal("", world.Lane.Run(world.Open()));
        Write(world, letter);
        Assert.True(world.Lane.Run(world.Pool!.Commit(new JobRecord(new Guid(letter, 0, 0, new byte[8]), new byte[letter]))).Succeeded);
        if (letter == 'B')
        {
            Assert.True(world.Lane.Run(world.Pool!.Commit(new JobRecord(new Guid(1, 0, 0, new byte[8]), [1]))).Succeeded);
        }

        Stop(world);
        for (int session = 1; session < sessions; session++)
        {
            int[] away = [.. Enumerable.Range(0, world.Disks.Length).Where(disk => world.Disks[disk].Pulled)];
            world = world.Restart(letter + (100 * (ulong)session), Array.ConvertAll(away, disk => (disk, (SimMedia?)null)));
            Assert.Equal("", world.Lane.Run(world.Open()));
            Stop(world);
        }

        return world;
    }

    private static VirtualDiskDescription Spec => new()
    {
        FriendlyName = "d",
        ResiliencySettingName = "Mirror",
        SizeBytes = Length,
        NumberOfColumns = 1,
        NumberOfDataCopies = 2,
        Interleave = 64 << 10,
    };

    private static void Stop(PoolWorld world) => Assert.Equal(IoError.None, world.Lane.Run(world.Close()));

    private static void Write(PoolWorld world, char value)
    {
        IoBuffer buffer = world.Lane.Buffers.Rent(1 << 20);
        buffer.Span.Fill((byte)value);
        for (long at = 0; at < Length; at += buffer.Length)
        {
            Assert.Equal(IoError.None, world.Lane.Run(world.Store.Write(at, buffer, WriteFlags.None)));
        }

        Assert.Equal(IoError.None, world.Lane.Run(world.VirtualDisk!.Disk.Flush()));
        world.Lane.Buffers.Return(buffer);
    }
}
