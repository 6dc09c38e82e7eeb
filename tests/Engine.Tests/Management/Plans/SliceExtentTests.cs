using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Where slices of tiered virtual disks are listed, their bytes are.</summary>
public sealed class SliceExtentTests
{
    private const int Slice = 1 << 20;
    private const int Interleave = 64 << 10;

    private readonly SubsystemWorld _world = new();

    // Columns of three do not divide a slice: it begins and ends within a stripe.
    [Theory]
    [InlineData("Simple", 1, 1)]
    [InlineData("Simple", 3, 1)]
    [InlineData("Mirror", 1, 2)]
    [InlineData("Mirror", 3, 2)]
    public void The_bytes_of_each_copy_are_there(string resiliency, int columns, int copies)
    {
        Guid disk = Make(resiliency, columns, copies);
        int[] written = [0, 1, 2, 5, 9, 17];   // the fast tier has four
        Array.ForEach(written, slice => _world.Write(disk, (long)slice * Slice, Slice));
        _world.Advance(TimeSpan.FromMinutes(2));   // places that were given ahead are taken back
        SliceExtent[] extents = Extents(disk);
        Assert.Equal(written, extents.Select(static extent => extent.Slice).Distinct());
        Assert.Equal(["d_fast", "d_slow"], extents.Select(static extent => extent.TierName).Distinct());
        foreach (IGrouping<(int Slice, int Copy), SliceExtent> one in extents.GroupBy(static extent => (extent.Slice, extent.Extent.Copy)))
        {
            Assert.Equal(Slice, one.Sum(static extent => extent.Extent.Size));
            Assert.All(one, extent => Assert.Equal(extent.Slice * (long)Slice, extent.Extent.VirtualOffset));
            SliceExtent[] parts = [.. one.OrderBy(static extent => extent.Extent.Column)];
            byte[] bytes = SubsystemWorld.Written(one.Key.Slice * Slice, Slice);
            Assert.Contains(Enumerable.Range(0, columns), first => Assemble(parts, first).AsSpan().SequenceEqual(bytes));
        }

        Assert.Equal(written.Length * copies, extents.GroupBy(static extent => (extent.Slice, extent.Extent.Copy)).Count());
    }

    [Fact]
    public void Of_parity_the_stripes_are_there()
    {
        Guid disk = Make("Parity", 3, 1);
        _world.Write(disk, 7L * Slice, Slice);
        SliceExtent[] extents = [.. Extents(disk).Where(static extent => extent.Slice == 7)];
        Assert.Equal(3, extents.Length);
        byte[][] columns = [.. extents.Select(extent => Read(extent, 0, (int)extent.Extent.Size))];
        Assert.All(Enumerable.Range(0, columns[0].Length), i => Assert.Equal(0, columns[0][i] ^ columns[1][i] ^ columns[2][i]));
        byte[] data = SubsystemWorld.Written(7 * Slice, Slice);
        HashSet<string> strips = [.. columns.SelectMany(column => column.Chunk(Interleave)).Select(Convert.ToHexString)];
        Assert.All(data.Chunk(Interleave), strip => Assert.Contains(Convert.ToHexString(strip), strips));
    }

    [Fact]
    public void A_physical_disk_lists_its_own_and_disks_without_tiers_list_none()
    {
        Guid disk = Make("Mirror", 1, 2);
        _world.Write(disk, 0, Slice);
        _world.NewMirror("plain", 4 << 20);
        _world.Advance(TimeSpan.FromMinutes(2));
        SubsystemSnapshot now = _world.Run(_world.Subsystem.SnapshotAsync());
        SliceExtent[] all = [.. now.SliceExtents()];
        Assert.Equal(2, all.Length);
        SliceExtent one = Assert.Single(now.SliceExtents(physicalDisk: all[1].Extent.PhysicalDisk));
        Assert.Equal((all[1].Extent, all[1].DiskName), (one.Extent, one.DiskName));
    }

    private Guid Make(string resiliency, int columns, int copies)
    {
        int disks = Math.Max(2, columns * copies);
        _world.NewPool([.. Enumerable.Range(0, 2 * disks).Select(i => (64L << 20, i < disks ? MediaType.SSD : MediaType.HDD))]);
        string fast = resiliency == "Parity" ? "Simple" : resiliency;
        TierRequest[] tiers =
        [
            new(Template("fast", MediaType.SSD, fast, fast == resiliency ? columns : 1, copies), 3 * Slice),
            new(Template("slow", MediaType.HDD, resiliency, columns, copies), 24 * Slice),
        ];
        VirtualDiskRequest request = new() { FriendlyName = "d", Tiers = tiers, SliceSize = Slice, ProvisioningType = ProvisioningType.Fixed };
        Guid id = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, request)).Description.Id.Value;
        for (int slice = 0; resiliency == "Parity" && slice < 3; slice++)
        {
            _world.Write(id, (long)slice * Slice, Slice);   // fills the fast tier
        }

        return id;
    }

    private Guid Template(string name, MediaType media, string resiliency, int columns, int copies) => _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(
        _world.Pool, new TierTemplateRequest
        {
            FriendlyName = name, MediaType = media, ResiliencySettingName = resiliency, NumberOfColumns = columns, Interleave = Interleave,
            NumberOfDataCopies = resiliency == "Mirror" ? copies : null,
        })).UniqueId;

    private SliceExtent[] Extents(Guid disk) => [.. _world.Run(_world.Subsystem.SnapshotAsync()).SliceExtents(disk)];

    /// <summary>Puts the strips of a copy together, the first one from a column.</summary>
    private byte[] Assemble(SliceExtent[] columns, int first)
    {
        using MemoryStream bytes = new();
        int[] next = new int[columns.Length];
        for (int column = first; bytes.Length < Slice; column = (column + 1) % columns.Length)
        {
            SliceExtent extent = columns[column];
            int length = (int)Math.Min(Interleave, extent.Extent.Size - next[column]);
            bytes.Write(Read(extent, next[column], length));
            next[column] += length;
        }

        return bytes.ToArray();
    }

    private byte[] Read(SliceExtent extent, int offset, int length)
    {
        int disk = Enumerable.Range(0, _world.Disks.Length).First(number => _world.Physical(number).UniqueId == extent.Extent.PhysicalDisk);
        Assert.Equal(_world.Physical(disk).FriendlyName, extent.DiskName);
        byte[] bytes = new byte[length];
        _world.Disks[disk].Media.Read(extent.Extent.PhysicalOffset + offset, bytes);
        return bytes;
    }
}
