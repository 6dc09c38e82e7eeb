using TierSpaces.Bench.Nbd;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Bench.Tests;

/// <summary>Every figure depends on the requests that the load client sends.</summary>
public sealed class NbdLoadTests : IDisposable
{
    private readonly LoadedStore _store = new();

    public void Dispose() => _store.Dispose();

    [Theory]
    [InlineData(true, WriteFlags.ForceUnitAccess)]
    [InlineData(false, WriteFlags.None)]
    public void A_durable_load_sends_every_write_with_FUA(bool durable, WriteFlags expected)
    {
        NbdLoad.Run(Load(operations: 20) with { Durable = durable });

        Assert.All(_store.Writes, write => Assert.Equal(expected, write.Flags));
        Assert.All(_store.Writes, write => Assert.Equal(64 << 10, write.Length));
    }

    [Fact]
    public void It_ends_after_so_many_requests()
    {
        LoadResult result = NbdLoad.Run(Load(operations: 20));

        Assert.Equal(20, result.Operations);
        Assert.InRange(_store.Writes.Count, 20, 21);   // one may be in flight when the count is reached
        Assert.Equal(_store.Writes.Count, result.Record.PerSecond.Sum());
    }

    [Fact]
    public void A_flush_follows_every_so_many_writes_and_the_last_of_them_counts_once()
    {
        LoadResult result = NbdLoad.Run(Load(operations: 20) with { FlushEvery = 4 });

        Assert.Equal(20, result.Operations);
        Assert.Equal([4, 8, 12, 16, 20], _store.Flushes.Take(5));
        Assert.InRange(_store.Writes.Count, 20, 21);
    }

    [Fact]
    public void The_same_seed_gives_the_same_places_and_another_one_others()
    {
        long[] Places(int seed)
        {
            _store.Writes.Clear();
            NbdLoad.Run(Load(operations: 20) with { Seed = seed });
            return [.. _store.Writes.Take(20).Select(write => write.Offset)];
        }

        long[] first = Places(1);

        Assert.Equal(first, Places(1));
        Assert.NotEqual(first, Places(2));
        Assert.All(first, place => Assert.InRange(place, 0, LoadedStore.Length - 1));
    }

    [Fact]
    public void Several_loads_at_once_add_up()
    {
        LoadResult result = NbdLoad.Run([Load(operations: 20) with { Seed = 1 }, Load(operations: 30) with { Seed = 2 }]);

        Assert.Equal(50, result.Operations);
        Assert.Equal(result.Latency.Count, result.Record.PerSecond.Sum());
        Assert.InRange(result.Latency.Count, 50, 52);
    }

    [Fact]
    public void A_load_that_fails_among_several_fails_them()
    {
        IOException error = Assert.Throws<IOException>(
            () => NbdLoad.Run([Load(operations: 5), Load(operations: 5) with { Socket = _store.Socket + ".none" }]));

        Assert.Contains(".none", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void In_turns_every_load_has_its_time_and_what_it_does_is_counted_for_it_alone()
    {
        LoadOptions large = Load(operations: 0) with { Seconds = 0.5 };
        LoadOptions small = large with { Block = 4096 };

        LoadResult[] results = LoadInTurns.Run([large, small], turnSeconds: 0.05);

        Assert.All(results, result => Assert.InRange(result.Seconds, 0.5, 5));
        Assert.Equal(_store.Writes.Count(write => write.Length == large.Block), results[0].Operations);
        Assert.Equal(_store.Writes.Count(write => write.Length == small.Block), results[1].Operations);
        int turns = 1 + _store.Writes.Zip(_store.Writes.Skip(1)).Count(pair => pair.First.Length != pair.Second.Length);
        Assert.InRange(turns, 6, 11);   // ten of each; between two of the same load there is no border
    }

    private LoadOptions Load(long operations) => new(
        _store.Socket, "loaded", Writes: true, Random: true, 64 << 10, 1, 1, Seconds: 60, Warmup: 0, 0, 0, Operations: operations);
}
