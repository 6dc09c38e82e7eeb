using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Formats;

namespace TierSpaces.Engine.Tests.Pools;

public sealed class PoolStateTests
{
    private const int Records = 100_000;

    // Random records, possible and impossible: none throws, and after each the slabs in use are those that rows name. Now and
    // then the state goes through its checkpoint pages and comes back the same.
    [Fact]
    public void Records_of_any_kind_leave_a_sound_state()
    {
        Random random = new(1);
        int applied = 0;
        for (int world = 0; world < 200; world++)
        {
            PoolState state = Base();
            for (int i = 0; i < Records / 200; i++)
            {
                MetadataRecord record = random.Next(3) == 0 ? RecordSamples.Next(random) : Likely(random, state);
                if (state.TryApply(record, out PoolState? next, out string reason))
                {
                    state = next;
                    applied++;
                }
                else
                {
                    Assert.NotEqual("", reason);
                }

                if (i % 50 == 49)
                {
                    CheckSlabs(state);
                }
            }

            CheckPages(state);
        }

        Assert.InRange(applied, Records / 5, Records);
    }

    [Theory]
    [InlineData("a slab that is in use", "in use")]
    [InlineData("a disk twice in a row", "twice")]
    [InlineData("a slab beyond the disk", "no slab")]
    [InlineData("a joining slab that is in use", "in use")]
    public void Contradictions_are_refused(string what, string why)
    {
        PoolState state = Base();
        SlabRef a = new(new DiskNumber(1), 0), b = new(new DiskNumber(2), 0), c = new(new DiskNumber(3), 0);
        state = state.Apply(new RowsMapped(new SpaceId(1), 0, 2, [new RowMapping([a, b])]));
        RowMapping row = what switch
        {
            "a slab that is in use" => new RowMapping([a, c]),
            "a disk twice in a row" => new RowMapping([c, c with { Slab = 1 }]),
            "a slab beyond the disk" => new RowMapping([c, a with { Slab = 1000 }]),
            _ => new RowMapping([c, b with { Slab = 1 }], [a, default]),
        };
        Assert.False(state.TryApply(new RowsMapped(new SpaceId(1), 1, 2, [row]), out _, out string reason));
        Assert.Contains(why, reason);
    }

    [Fact]
    public void Relocation_keeps_marks_of_sources_that_stay_and_frees_the_slab_that_goes()
    {
        SlabRef a = new(new DiskNumber(1), 0), b = new(new DiskNumber(2), 0), c = new(new DiskNumber(3), 5);
        PoolState state = Base().Apply(new RowsMapped(new SpaceId(1), 4, 2, [new RowMapping([a, b])]));
        state = state.Apply(new StaleMarked(new SpaceId(1), [new StaleEntry(4, 0, 3), new StaleEntry(4, 1, 9)]));
        state = state.Apply(new RowsMapped(new SpaceId(1), 4, 2, [new RowMapping([a, b], [default, c])]));
        RowState joining = state.Space(new SpaceId(1))!.Row(4)!;
        Assert.Equal((c, 3, 9), (joining.Mapping.Joining(1), joining.Stale(0), joining.Stale(1)));
        Assert.True(state.Disks[c.Disk].IsUsed(c.Slab));
        state = state.Apply(new RowsMapped(new SpaceId(1), 4, 2, [new RowMapping([a, c])]));
        RowState moved = state.Space(new SpaceId(1))!.Row(4)!;
        Assert.Equal((false, 3, 0), (moved.Mapping.HasJoining, moved.Stale(0), moved.Stale(1)));
        Assert.False(state.Disks[b.Disk].IsUsed(b.Slab));
        state = state.Apply(new RowsFreed(new SpaceId(1), 4, 1));
        Assert.Equal(0u, state.Disks[a.Disk].UsedSlabs + state.Disks[c.Disk].UsedSlabs);
    }

    [Fact]
    public void A_lost_disk_is_stale_as_a_whole()
    {
        SlabRef a = new(new DiskNumber(1), 0), b = new(new DiskNumber(2), 0);
        PoolState state = Base().Apply(new RowsMapped(new SpaceId(1), 0, 2, [new RowMapping([a, b])]));
        state = state.Apply(new DiskStale(new SpaceId(1), new DiskNumber(2)));
        RowState row = state.Space(new SpaceId(1))!.Row(0)!;
        Assert.Equal((0, 0xFFFF), (row.Stale(0), row.Stale(1)));
        state = state.Apply(new StaleCleared(new SpaceId(1), [new StaleEntry(0, 1, 0xFFFF)]));
        Assert.False(state.Space(new SpaceId(1))!.Row(0)!.HasStale);
    }

    [Fact]
    public void Numbers_are_never_given_twice()
    {
        PoolState state = Base();
        state = state.Apply(new DiskRemoved(new DiskNumber(4)));
        Assert.False(state.TryApply(new DiskAdded(RecordSamples.MakeDisk(4, 16 << 20)), out _, out _));
        Assert.Equal(5, state.NextDisk.Value);
        state = state.Apply(new SpaceRemoved(new SpaceId(2)));
        Assert.Equal(3u, state.NextSpace.Value);
        PoolState back = FromPages(state);
        Assert.Equal((5, 3u), (back.NextDisk.Value, back.NextSpace.Value));
    }

    [Theory]
    [InlineData("a slot twice", 0, 3u, 0, 3u)]
    [InlineData("a slot beyond its tier", 0, 3u, 0, 12u)]
    [InlineData("a tier that is not there", 0, 3u, 2, 0u)]
    public void Slices_that_contradict_are_refused(string what, int tier, uint slot, int otherTier, uint otherSlot)
    {
        VirtualDiskId disk = RecordSamples.TieredDisk.Id;
        PoolState state = Base().Apply(new SlicesMapped(disk, 5, [new SliceEntry(tier, slot, SliceReason.FirstWrite, 0)]));
        Assert.False(state.TryApply(new SlicesMapped(disk, 900, [new SliceEntry(otherTier, otherSlot, SliceReason.FirstWrite, 0)]), out _, out string reason),
            what);
        Assert.Contains("is in use or is not there", reason);
        Assert.False(state.TryApply(new SlicesMapped(RecordSamples.VirtualDisk.Id, 0, [SliceEntry.None]), out _, out _), "a disk without tiers");
    }

    [Fact]
    public void Two_slices_change_places_in_one_record()
    {
        VirtualDiskId disk = RecordSamples.TieredDisk.Id;
        SliceEntry fast = new(0, 3, SliceReason.Promoted, 0), slow = new(1, 4, SliceReason.MadeRoom, 0);
        PoolState state = Base().Apply(new SlicesMapped(disk, 5, [fast, slow])).Apply(new SlicesMapped(disk, 5, [slow, fast]));
        Assert.Equal((slow, fast, 1, 1), (state.SliceMap(disk)[5], state.SliceMap(disk)[6], state.SliceMap(disk).Mapped(0), state.SliceMap(disk).Mapped(1)));
        state = state.Apply(new SlicesMapped(disk, 6, [SliceEntry.None]));
        Assert.Equal((0, 1), (state.SliceMap(disk).Mapped(0), state.SliceMap(disk).Mapped(1)));
        Assert.Empty(state.Apply(new VirtualDiskRemoved(disk)).SliceMap(disk).Enumerate());
    }

    [Fact]
    public void Tiers_that_hold_slices_do_not_shrink()
    {
        VirtualDiskDescription disk = RecordSamples.TieredDisk;
        PoolState state = Base().Apply(new SlicesMapped(disk.Id, 5, [new SliceEntry(0, 3, SliceReason.FirstWrite, 0)]));
        Assert.False(state.TryApply(new VirtualDiskChanged(disk with { Tiers = [disk.Tiers[0]] }), out _, out _));
        Assert.False(state.TryApply(new VirtualDiskChanged(disk with { SliceSize = 2 << 20 }), out _, out _));
        Assert.True(state.TryApply(new VirtualDiskChanged(disk with { FriendlyName = "other" }), out _, out string reason), reason);
    }

    [Fact]
    public void Tier_templates_are_kept_as_they_were_last_set()
    {
        TierTemplate template = RecordSamples.TierTemplate;
        PoolState state = Base().Apply(new TierTemplateSet(template)).Apply(new TierTemplateSet(template with { Id = new Guid(7, 0, 0, new byte[8]) }));
        state = state.Apply(new TierTemplateSet(template with { FriendlyName = "other", ProvisioningType = null, Interleave = 0 }));
        Assert.Equal(state.TierTemplates.Values, FromPages(state).TierTemplates.Values);
        Assert.Equal((2, "other"), (state.TierTemplates.Count, state.TierTemplates[template.Id].FriendlyName));
        state = state.Apply(new TierTemplateRemoved(template.Id));
        Assert.Single(FromPages(state).TierTemplates);
        Assert.False(state.TryApply(new TierTemplateRemoved(template.Id), out _, out string reason));
        Assert.Contains("no tier template", reason);
    }

    [Theory]
    [InlineData("", 1, 2, 65536u, 2)]
    [InlineData("fast", 65, 2, 65536u, 2)]
    [InlineData("fast", 1, 4, 65536u, 2)]
    [InlineData("fast", 1, 0, 65536u, 2)]
    [InlineData("fast", 1, 2, 65537u, 2)]
    [InlineData("fast", 1, 2, 33554432u, 2)]
    [InlineData("fast", 1, 2, 65536u, 3)]
    public void An_impossible_tier_template_is_refused(string name, int columns, int copies, uint interleave, int provisioning)
    {
        TierTemplate template = RecordSamples.TierTemplate with
        {
            FriendlyName = name, NumberOfColumns = (ushort)columns, NumberOfDataCopies = (ushort)copies, Interleave = interleave,
                ProvisioningType = (ProvisioningType)provisioning,
        };
        Assert.False(Base().TryApply(new TierTemplateSet(template), out _, out string reason));
        Assert.Contains("impossible", reason);
    }

    [Fact]
    public void Pins_are_kept_part_by_part_and_go_together()
    {
        (VirtualDiskDescription disk, Guid id) = (RecordSamples.TieredDisk, new Guid(7, 0, 0, new byte[8]));
        PinSet first = new(id, 0, disk.Id, disk.Tiers[0].Id, "/a", [new PinnedRange(0, 4096), new PinnedRange(8192, 4096)]);
        PinSet second = first with { Part = 1, Label = "", Ranges = [new PinnedRange(16384, 4096)] };
        PoolState state = Base().Apply(first).Apply(second).Apply(first with { Id = new Guid(8, 0, 0, new byte[8]) });
        Assert.Equal([(id, 0u), (id, 1u), (new Guid(8, 0, 0, new byte[8]), 0u)], FromPages(state).Pins.Keys);
        Assert.Equal(("/a", 8192L), (FromPages(state).Pins[(id, 0)].Label, FromPages(state).Pins[(id, 0)].Ranges[1].Offset));
        state = state.Apply(new PinRemoved(id));
        Assert.Single(state.Pins);
        Assert.False(state.TryApply(new PinRemoved(id), out _, out string reason));
        Assert.Contains("no pin", reason);
        Assert.Empty(state.Apply(new VirtualDiskRemoved(disk.Id)).Pins);
    }

    [Theory]
    [InlineData("is impossible", 0, 0, 0, "")]
    [InlineData("is impossible", 0, 4096, -1, "")]
    [InlineData("is impossible", 0, 1, long.MaxValue, "")]
    [InlineData("is impossible", 0, -1, 5, "")]
    [InlineData("is impossible", 1, 30000, 4096, "/a")]
    [InlineData("is impossible", 1024, 30000, 4096, "")]
    [InlineData("ends before", 1, 30000, 20 << 20, "")]
    [InlineData("does not follow", 0, 30000, 4096, "/a")]
    [InlineData("does not follow", 2, 30000, 4096, "")]
    [InlineData("does not follow", 1, 4095, 5, "")]
    public void An_impossible_part_of_a_pin_is_refused(string why, uint part, long offset, long length, string label)
    {
        VirtualDiskDescription disk = RecordSamples.TieredDisk;
        PinSet pin = new(new Guid(7, 0, 0, new byte[8]), 0, disk.Id, disk.Tiers[0].Id, "/a", [new PinnedRange(0, 4096)]);
        PoolState state = Base().Apply(pin);
        Assert.False(state.TryApply(pin with { Part = part, Label = label, Ranges = [new PinnedRange(offset, length)] }, out _, out string reason));
        Assert.Contains(why, reason);
    }

    [Fact]
    public void Tiers_that_pins_name_stay()
    {
        VirtualDiskDescription disk = RecordSamples.TieredDisk;
        PoolState state = Base().Apply(new PinSet(new Guid(7, 0, 0, new byte[8]), 0, disk.Id, disk.Tiers[0].Id, "", [new PinnedRange((20 << 20) - 1, 1)]));
        Assert.False(state.TryApply(new VirtualDiskChanged(disk with { Tiers = [disk.Tiers[1]] }), out _, out string reason));
        Assert.Contains("pins", reason);
        Assert.False(state.TryApply(new VirtualDiskChanged(disk with { SizeBytes = (20 << 20) - 1 }), out _, out _));
        Assert.True(state.TryApply(new VirtualDiskChanged(disk with { FriendlyName = "other" }), out _, out reason), reason);
    }

    [Fact]
    public void A_pin_to_what_is_not_there_is_refused()
    {
        VirtualDiskDescription disk = RecordSamples.TieredDisk;
        PinSet pin = new(new Guid(7, 0, 0, new byte[8]), 0, disk.Id, disk.Tiers[0].Id, "", [new PinnedRange(0, 4096)]);
        Assert.False(Base().TryApply(pin with { Disk = RecordSamples.VirtualDisk.Id }, out _, out _), "a disk without tiers");
        Assert.False(Base().TryApply(pin with { Tier = Guid.Empty }, out _, out _), "a tier of no disk");
        Assert.False(Base().Apply(pin).TryApply(pin with { Part = 1, Tier = disk.Tiers[1].Id, Ranges = [new PinnedRange(8192, 1)] }, out _, out _),
            "two tiers");
        Assert.False(Base().TryApply(pin with { Label = new string('é', 513) }, out _, out _), "a long label");
        Assert.False(Base().TryApply(pin with { Ranges = [new PinnedRange(0, 4096), new PinnedRange(4096, 4096)] }, out _, out _), "pieces that touch");
        Assert.True(Base().TryApply(
            pin with { Label = new string('é', 512), Ranges = [.. Enumerable.Range(0, PinSet.RangesMax).Select(static i => new PinnedRange(i * 4096, 100))] },
            out _, out string reason), reason);
        Assert.False(Base().TryApply(
            pin with { Ranges = [.. Enumerable.Range(0, PinSet.RangesMax + 1).Select(static i => new PinnedRange(i * 4096, 100))] }, out _, out _));
    }

    [Fact]
    public void A_record_too_long_for_a_page_is_refused()
    {
        PoolState state = Base();
        string text = new('x', 5000);
        Assert.False(state.TryApply(new DiskChanged(state.Disks[new DiskNumber(1)].Description with { Description = text }), out _, out string reason));
        Assert.Contains("bytes", reason);
    }

    private static PoolState Base()
    {
        PoolState state = PoolState.Empty.Apply(new PoolCreated(RecordSamples.Pool));
        for (ushort disk = 1; disk <= 4; disk++)
        {
            state = state.Apply(new DiskAdded(RecordSamples.MakeDisk(disk, 32 << 20)));
        }

        state = state.Apply(new VirtualDiskCreated(RecordSamples.VirtualDisk));
        state = state.Apply(new SpaceCreated(new SpaceDescription(new SpaceId(1), RecordSamples.VirtualDisk.Id, SpaceKind.Data, 1, 2)));
        state = state.Apply(new VirtualDiskCreated(RecordSamples.TieredDisk));
        return state.Apply(new SpaceCreated(new SpaceDescription(new SpaceId(2), RecordSamples.VirtualDisk.Id, SpaceKind.IntegrityLog, 1, 1)));
    }

    // A record that has a good chance to fit the state.
    private static MetadataRecord Likely(Random random, PoolState state)
    {
        int space = random.Next(1, 3);
        int positions = space == 1 ? 2 : 1;
        int row = random.Next(200);
        return random.Next(8) switch
        {
            < 3 => new RowsMapped(new SpaceId((uint)space), row, positions, [.. Enumerable.Range(0, random.Next(1, 3)).Select(_ => Row(random, positions))]),
            3 => new RowsFreed(new SpaceId((uint)space), row, 1),
            4 when state.Space(new SpaceId((uint)space))?.EnumerateRows().FirstOrDefault() is { Row: not null } first =>
                new StaleMarked(new SpaceId((uint)space), [new StaleEntry(first.Index, (ushort)random.Next(positions), (ushort)random.Next(1, 65536))]),
            4 => new DiskStale(new SpaceId((uint)space), new DiskNumber((ushort)random.Next(1, 5))),
            5 => RecordSamples.Slices(random, RecordSamples.TieredDisk.Id),
            6 => RecordSamples.Pin(random),
            _ => new StaleCleared(new SpaceId((uint)space), [new StaleEntry(row, 0, (ushort)random.Next(1, 65536))]),
        };
    }

    private static RowMapping Row(Random random, int positions)
    {
        int[] disks = [.. Enumerable.Range(1, 4).OrderBy(_ => random.Next()).Take(positions + 1)];
        SlabRef[] slabs = [.. disks.Select(disk => new SlabRef(new DiskNumber((ushort)disk), (uint)random.Next(28)))];
        return new RowMapping(slabs[..positions], random.Next(3) == 0 ? [slabs[positions], .. new SlabRef[positions - 1]] : null);
    }

    private static void CheckSlabs(PoolState state)
    {
        List<SlabRef> named = [];
        foreach ((_, RowState row) in state.Spaces.Values.SelectMany(static space => space.EnumerateRows()))
        {
            named.AddRange(row.Mapping.Sources);
            named.AddRange(Enumerable.Range(0, row.Mapping.Sources.Length).Select(row.Mapping.Joining).Where(static slab => !slab.IsNone));
        }

        Assert.Equal(named.Count, named.Distinct().Count());
        Assert.Equal(named.Count, state.Disks.Values.Sum(static disk => disk.UsedSlabs));
        Assert.All(named, slab => Assert.True(state.Disks[slab.Disk].IsUsed(slab.Slab)));
        Assert.All(state.Spaces.Values, static space => Assert.Equal(space.EnumerateRows().Count(), space.MappedRows));
        CheckSlices(state.SliceMap(RecordSamples.TieredDisk.Id));
    }

    private static void CheckSlices(SliceMapState map)
    {
        List<(int Tier, uint Slot)> named = [.. map.Enumerate().Select(static slice => (slice.Entry.Tier, slice.Entry.Slot))];
        Assert.Equal(named.Count, named.Distinct().Count());
        Assert.All(named, slot => Assert.True(map.IsUsed(slot.Tier, slot.Slot)));
        Assert.All(new[] { 0, 1 }, tier => Assert.Equal(named.Count(slot => slot.Tier == tier), map.Mapped(tier)));
    }

    private static void CheckPages(PoolState state)
    {
        List<string> pages = Pages(state);
        Assert.InRange(pages.Count, 1, CheckpointPages.CountUpTo(state));
        Assert.Equal(pages, Pages(FromPages(state)));
    }

    private static List<string> Pages(PoolState state)
    {
        List<string> pages = [];
        foreach (StatePage page in CheckpointPages.Enumerate(state))
        {
            ByteWriter to = new();
            page.Encode(to);
            Assert.InRange(to.Length, 1, CheckpointPages.Capacity);
            pages.Add($"{page.Key} {Convert.ToHexString(to.Written)}");
        }

        return pages;
    }

    private static PoolState FromPages(PoolState state)
    {
        PoolState back = PoolState.Empty;
        foreach (StatePage page in CheckpointPages.Enumerate(state))
        {
            ByteWriter to = new();
            page.Encode(to);
            List<MetadataRecord> records = [];
            Assert.True(MetadataCodec.TryDecodeAll(to.Written, records, out string reason), reason);
            records.ForEach(record => back = back.Apply(record));
        }

        return back;
    }
}
