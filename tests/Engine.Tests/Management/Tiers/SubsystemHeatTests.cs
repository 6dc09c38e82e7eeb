using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>
/// Slices looked at, and heat brought from one pool to another. Virtual disks have so many slices on the fast tier and so many on the slow one.
/// </summary>
public sealed class SubsystemHeatTests
{
    private const int Mi = 1 << 20;

    private readonly SubsystemWorld _world = new();

    [Fact]
    public void Slices_are_listed_in_pieces_and_ranked_over_the_whole_disk()
    {
        Guid disk = NewDisk("d", 256 << 10, 4, SliceService.SlicesAtOnce + 4);
        int[] slices = [0, 3, SliceService.SlicesAtOnce - 1, SliceService.SlicesAtOnce, SliceService.SlicesAtOnce + 5];
        Use(disk, 256 << 10, slices);
        HeatRanking ranking = _world.Run(_world.Subsystem.Slices.RankingAsync(disk));
        SlicePage one = _world.Run(_world.Subsystem.Slices.ListAsync(disk, 0, long.MaxValue, ranking.NowNs));
        Assert.Equal(slices[..3], one.Slices.Select(static slice => slice.Slice));
        Assert.Equal((long)SliceService.SlicesAtOnce << 18, one.Next);
        SlicePage two = _world.Run(_world.Subsystem.Slices.ListAsync(disk, one.Next, long.MaxValue, ranking.NowNs));
        Assert.Equal(slices[3..], two.Slices.Select(static slice => slice.Slice));
        Assert.Equal((SliceService.SlicesAtOnce + 8L) << 18, two.Next);
        // Each was used once more than the one before.
        Assert.Equal([4, 3, 2, 1, 0], one.Slices.Concat(two.Slices).Select(slice => ranking.Hotter(slice.Heat)));
        Assert.Equal(0, ranking.Hotter(1e9));
        Assert.Equal(5, ranking.Hotter(0));

        SlicePage piece = _world.Run(_world.Subsystem.Slices.ListAsync(disk, (3L << 18) + 5, (1L << 18) - 5, ranking.NowNs));
        Assert.Equal((3, 4L << 18), (Assert.Single(piece.Slices).Slice, piece.Next));
    }

    [Fact]
    public void A_slice_that_is_pinned_is_listed_although_nothing_is_there()
    {
        Guid disk = NewDisk("d", Mi, 4, 12);
        Guid fast = _world.Opened(disk).Description.Tiers[0].Id;
        _world.Run(_world.Subsystem.Pins.SetAsync(new PinRequest(disk, fast, "", [new PinnedRange(7 * Mi, 1)])));
        SliceStatus slice = Assert.Single(_world.Run(_world.Subsystem.Slices.ListAsync(disk, 0, long.MaxValue, 0)).Slices);
        Assert.Equal((7, 0.0, false, 0), (slice.Slice, slice.Heat, slice.Entry.IsMapped, slice.PinnedTier));
    }

    [Fact]
    public void What_is_hot_in_one_pool_is_planned_in_another_as_in_the_first()
    {
        Guid first = NewDisk("d", Mi, 4, 12);
        Guid second = NewDisk("e", Mi, 4, 12);
        Fill(first, 16);
        Fill(second, 16);
        Use(first, Mi, [1, 6, 9, 9, 9, 14, 14, 14, 14]);
        Use(second, Mi, [4, 5, 7]);   // which is forgotten
        _world.Advance(TimeSpan.FromHours(5));
        Import(second, Export(first));
        Assert.NotEmpty(Moves(first));
        Assert.Equal(Moves(first), Moves(second));

        _world.Restart();
        Assert.Equal(Moves(first), Moves(second));   // it was saved
        _world.Run(_world.Subsystem.TierOptimizer.OptimizeAsync(second));
        Assert.Empty(Moves(second));
        Assert.NotEmpty(Moves(first));
    }

    [Fact]
    public void Heat_of_a_minute_ago_survives_a_power_cut()
    {
        Guid disk = NewDisk("d", Mi, 4, 12);
        Use(disk, Mi, [2, 5]);
        _world.Advance(TimeSpan.FromSeconds(125));   // the host looks once a minute
        Use(disk, Mi, [9]);
        SubsystemWorld after = _world.AfterPowerCut(keepsAcknowledged: false);
        Assert.Equal([2, 5], after.Run(after.Subsystem.Slices.ListAsync(disk, 0, long.MaxValue, 0)).Slices
            .Where(static slice => slice.Heat > 0).Select(static slice => (int)slice.Slice));
    }

    [Fact]
    public void Heat_of_small_slices_is_that_of_the_large_ones_they_make()
    {
        Guid first = NewDisk("d", 256 << 10, 16, 48);
        Guid second = NewDisk("e", Mi, 4, 12);
        Use(first, 256 << 10, [0, 1, 2, 3, 4, 63]);
        Import(second, Export(first));
        SliceStatus[] small = Slices(first);
        SliceStatus[] large = Slices(second);
        Assert.Equal([0, 1, 15], large.Select(static slice => slice.Slice));
        Assert.All(large, slice =>
        {
            double parts = small.Where(part => part.Slice / 4 == slice.Slice).Sum(static part => part.Heat);
            Assert.Equal(parts, slice.Heat, parts / (1 << 16));   // each is kept to 17 binary digits
        });
    }

    [Fact]
    public void No_heat_imported_is_no_heat_also_after_a_restart()
    {
        Guid first = NewDisk("d", Mi, 4, 12);
        Guid second = NewDisk("e", Mi, 4, 12);
        Use(second, Mi, [4, 5]);
        _world.Restart();
        Assert.All(Slices(second), static slice => Assert.True(slice.Heat > 0));
        byte[] nothing = Export(first);
        Assert.Equal(HeatSnapshot.BlockSize, nothing.Length);
        Import(second, nothing);
        _world.Restart();
        Assert.All(Slices(second), static slice => Assert.Equal(0, slice.Heat));
    }

    [Fact]
    public void What_does_not_fit_is_said_and_changes_nothing()
    {
        Guid large = NewDisk("d", Mi, 4, 12);
        Guid small = NewDisk("e", 256 << 10, 16, 48);
        Guid shorter = NewDisk("f", Mi, 4, 4);
        Use(large, Mi, [8]);
        Use(small, 256 << 10, [1]);
        Use(shorter, Mi, [1]);
        byte[] file = Export(large);
        Assert.Contains("slices of 1 MB, and the virtual disk has slices of 256 KB", Trouble(small, file), StringComparison.Ordinal);
        Assert.Contains("heat of slice 8 of 1 MB, beyond the end of the virtual disk, which has 8 MB", Trouble(shorter, file), StringComparison.Ordinal);
        Assert.Equal("It is no heat map.", Trouble(shorter, new byte[HeatSnapshot.BlockSize]));
        Assert.Equal("It goes on behind its end.", Trouble(large, [.. file, .. file]));
        file[4] = 2;
        Assert.Equal("It is of version 2; this program reads version 1.", Trouble(large, file));
        file[4] = 1;
        file[^1] ^= 1;
        Assert.Equal("It is damaged in its 4 KB at offset 0.", Trouble(large, file));
        Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Heat.ImportAsync(large, _world.Run(_world.Subsystem.Heat.ReaderAsync(large)))));
        Assert.Equal([8, 1, 1], new[] { large, small, shorter }.Select(disk => Assert.Single(Slices(disk), static slice => slice.Heat > 0).Slice));
    }

    [Fact]
    public void A_file_that_lacks_blocks_is_not_whole()
    {
        Guid disk = NewDisk("d", 256 << 10, 4, 2100);
        Use(disk, 256 << 10, [0, 1050, 2050]);
        byte[] file = Export(disk);
        Assert.Equal(3 * HeatSnapshot.BlockSize, file.Length);
        HeatFileReader reader = _world.Run(_world.Subsystem.Heat.ReaderAsync(disk));
        Assert.Null(reader.Add(file));
        Assert.Null(reader.Add(file.AsSpan(HeatSnapshot.BlockSize)));
        Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Heat.ImportAsync(disk, reader)));
        Assert.Equal("It is damaged in its 4 KB at offset 4 KB.", Trouble(disk, [.. file[..HeatSnapshot.BlockSize], .. file[(2 * HeatSnapshot.BlockSize)..]]));
        Assert.Null(reader.Add(file.AsSpan(2 * HeatSnapshot.BlockSize)));
        Assert.Equal((true, 3L, disk), (reader.IsWhole, reader.HotSlices, reader.Owner));
    }

    /// <summary>A virtual disk in a pool of its own, that is not optimized at night.</summary>
    private Guid NewDisk(string name, long slice, int fast, int slow)
    {
        _world.NewPool([(96 << 20, MediaType.SSD), (4L << 30, MediaType.HDD)], $"pool of {name}");
        Guid pool = _world.Pool;
        _world.Run(_world.Subsystem.TierSchedules.SetAsync(pool, TierSchedule.Default with { IsEnabled = false }));
        TierRequest[] tiers = [new(Template(pool, "fast", MediaType.SSD), fast * slice), new(Template(pool, "slow", MediaType.HDD), slow * slice)];
        VirtualDiskRequest request = new() { FriendlyName = name, Tiers = tiers, SliceSize = slice, ProvisioningType = ProvisioningType.Fixed };
        return _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(pool, request)).Description.Id.Value;
    }

    private Guid Template(Guid pool, string name, MediaType media) => _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(
        pool, new TierTemplateRequest { FriendlyName = name, MediaType = media, ResiliencySettingName = "Simple" })).UniqueId;

    private void Fill(Guid disk, int slices)
    {
        for (int slice = 0; slice < slices; slice++)
        {
            _world.Write(disk, (long)slice * Mi, Mi);
        }
    }

    /// <summary>Uses slices, the first one 40 times, the next 80 times, and so on.</summary>
    private void Use(Guid disk, long slice, int[] slices)
    {
        for (int i = 0; i < slices.Length; i++)
        {
            for (int times = 0; times < 40 * (i + 1); times++)
            {
                _world.Write(disk, slices[i] * slice, 4096);
            }
        }
    }

    private byte[] Export(Guid disk)
    {
        HeatExport export = _world.Run(_world.Subsystem.Heat.ExportAsync(disk));
        List<byte> file = [];
        for (byte[] piece = _world.Run(export.NextAsync()); piece.Length > 0; piece = _world.Run(export.NextAsync()))
        {
            file.AddRange(piece);
        }

        return [.. file];
    }

    private void Import(Guid disk, byte[] file)
    {
        HeatFileReader reader = Read(disk, file, out string? trouble);
        Assert.Null(trouble);
        Assert.True(_world.Run(_world.Subsystem.Heat.ImportAsync(disk, reader)));
    }

    private string Trouble(Guid disk, byte[] file)
    {
        HeatFileReader reader = Read(disk, file, out string? trouble);
        Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.Heat.ImportAsync(disk, reader)));
        return Assert.IsType<string>(trouble);
    }

    private HeatFileReader Read(Guid disk, byte[] file, out string? trouble)
    {
        HeatFileReader reader = _world.Run(_world.Subsystem.Heat.ReaderAsync(disk));
        trouble = null;
        for (int at = 0; at < file.Length; at += HeatSnapshot.BlockSize)
        {
            trouble = reader.Add(file.AsSpan(at));
        }

        return reader;
    }

    private SliceStatus[] Slices(Guid disk) => _world.Run(_world.Subsystem.Slices.ListAsync(disk, 0, long.MaxValue, _world.Lane.NowNs)).Slices;

    private (long, byte, byte)[] Moves(Guid disk) =>
        [.. _world.Run(_world.Subsystem.TierOptimizer.PlanAsync(disk)).Plan.Moves.Select(static move => (move.Slice, move.From, move.To))];
}
