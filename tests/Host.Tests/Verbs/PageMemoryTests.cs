using TierSpaces.Host.Verbs.StorageTiers;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>State that pages of a list leave to the next: each list its own, a few of them, for a minute.</summary>
public sealed class PageMemoryTests
{
    private readonly Guid _disk = Guid.NewGuid();
    private readonly Clock _clock = new();
    private readonly PageMemory<string> _memory;

    public PageMemoryTests() => _memory = new PageMemory<string>(_clock);

    [Fact]
    public async Task Lists_at_one_time_keep_what_is_theirs_over_collections()
    {
        string one = await PageAsync(null, "one");
        string two = await PageAsync(null, "two");
        GC.Collect();
        Assert.Equal("one", await ValueAsync(one));
        Assert.Equal("two", await ValueAsync(two));
        Assert.Equal("one", await ValueAsync(await PageAsync(one, "again")));
    }

    [Fact]
    public async Task Another_virtual_disk_is_worked_out_anew()
    {
        string page = await PageAsync(null, "one");
        Assert.Equal("other", await _memory.Begin(page).OfAsync(Guid.NewGuid(), () => Task.FromResult("other")));
    }

    [Fact]
    public async Task A_list_at_its_end_is_forgotten_at_once()
    {
        PageMemory<string>.Listing listing = _memory.Begin(await PageAsync(null, "one"));
        await listing.OfAsync(_disk, () => Task.FromResult("again"));
        Assert.Null(listing.End(null));
        Assert.Equal(0, _memory.Count);
    }

    [Fact]
    public async Task A_list_is_forgotten_a_minute_after_its_last_use()
    {
        string page = await PageAsync(null, "one");
        _clock.Seconds = 59;
        await PageAsync(page, "again");
        _clock.Seconds = 118;
        Assert.Equal("one", await ValueAsync(page));
        _clock.Seconds = 119;
        Assert.Equal("fresh", await ValueAsync(page));
        Assert.Equal(0, _memory.Count);
    }

    [Fact]
    public async Task Nobody_need_ask_for_it_to_be_forgotten()
    {
        await PageAsync(null, "one");
        _clock.Seconds = 60;
        _clock.Fire();
        Assert.Equal(0, _memory.Count);
        await PageAsync(null, "two");   // it begins again
        _clock.Seconds = 120;
        _clock.Fire();
        Assert.Equal(0, _memory.Count);
    }

    [Fact]
    public async Task Of_too_many_lists_the_longest_unused_is_forgotten()
    {
        List<string> pages = [];
        for (int i = 0; i <= PageMemory<string>.Most; i++)
        {
            _clock.Seconds = i;
            pages.Add(await PageAsync(null, $"{i}"));
        }

        Assert.Equal(PageMemory<string>.Most, _memory.Count);
        Assert.Equal("fresh", await ValueAsync(pages[0]));
        Assert.Equal("1", await ValueAsync(pages[1]));
    }

    private async Task<string> PageAsync(string? page, string value)
    {
        PageMemory<string>.Listing listing = _memory.Begin(page);
        await listing.OfAsync(_disk, () => Task.FromResult(value));
        return listing.End("disk:0")!;
    }

    private Task<string> ValueAsync(string page) => _memory.Begin(page).OfAsync(_disk, () => Task.FromResult("fresh"));

    /// <summary>A clock that advances only when it is set, with timers that wait to be fired.</summary>
    private sealed class Clock : TimeProvider
    {
        private readonly List<Action> _due = [];

        public long Seconds { get; set; }

        public override long TimestampFrequency => 1;

        public override long GetTimestamp() => Seconds;

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            _due.Add(() => callback(state));
            return new Timer();
        }

        public void Fire()
        {
            Action[] now = [.. _due];
            _due.Clear();
            Array.ForEach(now, action => action());
        }

        private sealed class Timer : ITimer
        {
            public bool Change(TimeSpan dueTime, TimeSpan period) => true;

            public void Dispose()
            {
            }

            public ValueTask DisposeAsync() => ValueTask.CompletedTask;
        }
    }
}
