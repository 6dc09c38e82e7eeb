using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Pins of a virtual disk of four slices on the fast tier and twelve on the slow one, all written: slices 0 to 3 are on the fast one.</summary>
public sealed class SubsystemTierPinsTests
{
    private const int Slice = 1 << 20;

    private readonly SubsystemWorld _world = new();
    private readonly Guid _disk;

    public SubsystemTierPinsTests()
    {
        _world.NewPool([(64 << 20, MediaType.SSD), (128 << 20, MediaType.HDD)]);
        TierRequest[] tiers = [new(Template("fast", MediaType.SSD), 4 * Slice), new(Template("slow", MediaType.HDD), 12 * Slice)];
        VirtualDiskRequest request = new() { FriendlyName = "d", Tiers = tiers, SliceSize = Slice, ProvisioningType = ProvisioningType.Fixed };
        _disk = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, request)).Description.Id.Value;
        for (int slice = 0; slice < 16; slice++)
        {
            _world.Write(_disk, (long)slice * Slice, Slice);
        }
    }

    [Fact]
    public void A_pin_is_kept_replaced_by_that_of_its_file_and_taken_away()
    {
        PinStatus pin = Set(0, "/f", new PinnedRange(10 * Slice, Slice + 4096), new PinnedRange(2 * Slice, 512));
        Assert.Equal((512, Slice + 4096L), (pin.BytesOnTier, pin.BytesElsewhere));
        Assert.Equal([new PinnedRange(2 * Slice, 512), new PinnedRange(10 * Slice, Slice + 4096)], pin.Pin.Ranges);
        _world.Restart();
        Assert.Equal(pin.Pin.Id, Assert.Single(Pins()).Pin.Id);

        PinStatus replaced = Set(1, "/f", new PinnedRange(Slice, Slice));
        Assert.Equal((pin.Pin.Id, 0L, (long)Slice), (replaced.Pin.Id, replaced.BytesOnTier, replaced.BytesElsewhere));
        Set(0, "", new PinnedRange(0, Slice));
        Set(0, "", new PinnedRange(Slice, Slice));
        Assert.Equal(["", "", "/f"], Pins().Select(one => one.Pin.Label));
        _world.Restart();
        Assert.Equal(3, Pins().Length);
        Assert.True(_world.Run(_world.Subsystem.Pins.RemoveAsync(_disk, pin.Pin.Id)));
        Assert.Equal(["", ""], Pins().Select(one => one.Pin.Label));
        Assert.Equal(ManagementError.ObjectNotFound,
            Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Pins.RemoveAsync(_disk, pin.Pin.Id))).Error);
    }

    [Fact]
    public void A_range_is_pinned_in_place_of_the_pin_that_exactly_it_has()
    {
        PinStatus pin = Set(0, "", new PinnedRange(9 * Slice, 2 * Slice));
        Assert.Equal(2L * Slice, pin.BytesElsewhere);
        Set(0, "", new PinnedRange(2 * Slice, Slice));
        PinStatus again = Set(1, "", new PinnedRange(9 * Slice, 2 * Slice));   // once there were two of them, and the faster tier would have won for ever
        Assert.Equal((pin.Pin.Id, 0L), (again.Pin.Id, again.BytesElsewhere));
        Set(0, "", new PinnedRange(10 * Slice, 2 * Slice));   // overlaps it, and is another one
        Set(1, "/f", new PinnedRange(2 * Slice, Slice));
        _world.Restart();
        Assert.Equal([(2, 1, 0), (9, 2, 1), (10, 2, 0), (2, 1, 1)], Pins().Select(
            one => ((int)(one.Pin.Ranges[0].Offset / Slice), (int)(one.Pin.Bytes / Slice), one.Pin.Tier)));
    }

    [Fact]
    public void What_is_pinned_moves_at_once_and_what_is_hot_does_not()
    {
        for (int i = 0; i < 200; i++)
        {
            _world.Write(_disk, 12 * Slice, 4096);
        }

        Set(0, "/f", new PinnedRange(10 * Slice, 2 * Slice));
        JobStatus job = _world.Run(_world.Subsystem.Pins.MoveAsync(_disk));
        Assert.Equal((JobState.Completed, 2L * Slice, 2L * Slice), (job.State, job.BytesPromoted, job.BytesDemoted));
        Engine.Pools.SliceMapState map = Map();
        Assert.Equal([(0, SliceReason.Pinned), (0, SliceReason.Pinned)], new[] { 10, 11 }.Select(slice => (map[slice].Tier, map[slice].Reason)));
        Assert.Equal((1, 2L * Slice, 0L), (map[12].Tier, Assert.Single(Pins()).BytesOnTier, Pins()[0].BytesElsewhere));

        job = _world.Run(_world.Subsystem.Pins.MoveAsync(_disk));
        Assert.Equal((JobState.Completed, 0L), (job.State, job.BytesTotal));
        _world.Run(_world.Subsystem.TierOptimizer.OptimizeAsync(_disk));
        Assert.Equal((0, 0, 0), (Map()[10].Tier, Map()[11].Tier, Map()[12].Tier));   // heat takes what pins leave
    }

    [Fact]
    public void More_than_a_tier_has_is_refused_with_what_would_fit_and_changes_nothing()
    {
        Set(0, "/g", new PinnedRange(0, 4096));
        ManagementException rejected = Refused(0, "/f", new PinnedRange((4 * Slice) + 4096, (3 * Slice) - 4096), new PinnedRange(9 * Slice, 1));
        Assert.Equal(ManagementError.NotEnoughCapacity, rejected.Error);
        Assert.Contains($"'/f' cannot be pinned to storage tier 'd_fast'. ", rejected.Message, StringComparison.Ordinal);
        Assert.Contains($"At most {ByteText.Exact(3 * Slice)} more can be pinned to it", rejected.Message, StringComparison.Ordinal);
        Assert.Equal("/g", Assert.Single(Pins()).Pin.Label);
        Assert.True(_world.Run(_world.Subsystem.Pins.CheckSetAsync(Request(0, "/f", new PinnedRange(4 * Slice, 3 * Slice)))));
        Assert.Equal("/g", Assert.Single(Pins()).Pin.Label);
        Set(0, "/f", new PinnedRange(4 * Slice, 3 * Slice));
        Set(0, "/g", new PinnedRange(8 * Slice, Slice));   // its own slice is given up for it
    }

    [Fact]
    public void What_cannot_be_a_pin_is_refused_by_name()
    {
        Assert.Contains($"1 MB (1048577 bytes) at offset {ByteText.Offset(15 * Slice)} are not within virtual disk 'd'", Refused(0, "/f", new PinnedRange(15 * Slice, Slice + 1)).Message,
            StringComparison.Ordinal);
        Assert.Contains("-1", Refused(0, "/f", new PinnedRange(-1, 2)).Message, StringComparison.Ordinal);
        Assert.Contains("0 bytes at offset 4 KB", Refused(0, "/f", new PinnedRange(4096, 0)).Message, StringComparison.Ordinal);
        Assert.Contains("0 pieces", Refused(0, "/f").Message, StringComparison.Ordinal);
        Assert.Contains("1025 bytes", Refused(0, "/" + new string('f', 1024), new PinnedRange(0, 1)).Message, StringComparison.Ordinal);
        PinRequest strange = Request(0, "/f", new PinnedRange(0, 1)) with { Tier = _disk };
        Assert.Contains("It has d_fast, d_slow.", Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Pins.SetAsync(strange))).Action,
            StringComparison.Ordinal);
        Assert.Empty(Pins());
    }

    [Fact]
    public void A_file_in_more_pieces_than_a_commit_takes_is_pinned_by_whole_slices()
    {
        PinnedRange[] pieces = [.. Enumerable.Range(0, 2048).Select(i => new PinnedRange((i * 4096L) + 512, 512))];
        Assert.Equal(2048, Set(1, "/f", pieces).Pin.Ranges.Length);
        Assert.Equal([new PinnedRange(0, 9 * Slice)], Set(1, "/f", [.. pieces, new PinnedRange(8 * Slice, 1)]).Pin.Ranges);
        _world.Restart();
        Assert.Equal([new PinnedRange(0, 9 * Slice)], Assert.Single(Pins()).Pin.Ranges);
    }

    [Fact]
    public void A_larger_tier_takes_more()
    {
        PinnedRange range = new(4 * Slice, 5 * Slice);
        Refused(0, "/f", range);
        _world.Run(_world.Subsystem.Tiers.ResizeAsync(_world.Opened(_disk).Description.Tiers[0].Id, 5 * Slice));
        Set(0, "/f", range);
    }

    [Fact]
    public void Pins_go_with_their_virtual_disk()
    {
        Set(0, "/f", new PinnedRange(10 * Slice, Slice));
        Assert.True(_world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(_disk)));
        Assert.Empty(_world.Run(_world.Subsystem.Pins.ListAsync(null)));
        _world.Restart();
        Assert.Empty(_world.Run(_world.Subsystem.Pins.ListAsync(null)));
    }

    private Guid Template(string name, MediaType medium) => _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(
        _world.Pool, new TierTemplateRequest { FriendlyName = name, MediaType = medium, ResiliencySettingName = "Simple" })).UniqueId;

    private PinRequest Request(int tier, string label, params PinnedRange[] ranges) =>
        new(_disk, _world.Opened(_disk).Description.Tiers[tier].Id, label, ranges);

    private PinStatus Set(int tier, string label, params PinnedRange[] ranges) => _world.Run(_world.Subsystem.Pins.SetAsync(Request(tier, label, ranges)));

    private ManagementException Refused(int tier, string label, params PinnedRange[] ranges) =>
        Assert.Throws<ManagementException>(() => Set(tier, label, ranges));

    private PinStatus[] Pins() => _world.Run(_world.Subsystem.Pins.ListAsync(_disk));

    private Engine.Pools.SliceMapState Map() => _world.Opened(_disk).Tiers!.Map;
}
