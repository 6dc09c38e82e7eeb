using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency.Xor;

/// <summary>A resiliency that the engine does not have, added by a descriptor, a layout and an engine alone.</summary>
public sealed class XorLayoutTests
{
    private const int Interleave = 16 << 10;
    private const int Stripe = 2 * Interleave;

    private static readonly SpaceShape s_shape = new(3, 1, Interleave, 256 << 10, Checksums: true);

    private readonly SimLane _lane = new(1);
    private readonly SimSpaceMap _map = new();
    private SimDisk[] _disks;
    private SimSpaceHost _host = null!;
    private Space _space = null!;
    private readonly byte[] _data = new byte[3 * Stripe];

    public XorLayoutTests()
    {
        _disks = [.. Enumerable.Range(0, 4).Select(disk => new SimDisk(_lane, new SimMedia($"disk{disk}", SimSpaceHost.Stride(s_shape) * 6, 4096)))];
        Open(isNew: true);
        new Random(1).NextBytes(_data);
        Assert.Equal(IoError.None, Write(0, _data));
        Assert.Equal(IoError.None, _lane.Run(_space.Flush()));
    }

    [Fact]
    public void Whole_stripes_are_written_and_parts_of_them_read()
    {
        Assert.Equal(IoError.InvalidArgument, Write(0, _data.AsSpan(0, Interleave)));
        AssertReads(0, _data.Length);
        AssertReads(Interleave, 4096);
        AssertReads(Stripe - 4096, 4096);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void It_reads_and_writes_with_any_one_position_missing_and_resyncs_it(int position)
    {
        int disk = _host.Row(0)!.Places[position].Disk;
        Evict(disk);
        AssertReads(0, _data.Length);
        new Random(2).NextBytes(_data.AsSpan(0, Stripe));
        Assert.Equal(IoError.None, Write(0, _data.AsSpan(0, Stripe)));
        AssertReads(0, _data.Length);

        _map.Return(disk);
        _space.OnDiskJoined();
        Assert.True(_space.BytesToResync > 0);
        Assert.Equal(RepairEnd.Done, _lane.Run(_space.Resync(new SimPacer(_lane))));
        Assert.Equal(0, _space.BytesToResync);
        foreach (int other in _host.Row(0)!.Places.Select(place => place.Disk).Where(other => other != disk).ToArray())
        {
            Evict(other);
            AssertReads(0, _data.Length);
            _map.Return(other);
            _space.OnDiskJoined();
            _lane.Run(_space.Resync(new SimPacer(_lane)));
        }
    }

    [Theory]
    [InlineData(0, false)]
    [InlineData(1, false)]
    [InlineData(2, false)]
    [InlineData(0, true)]
    [InlineData(2, true)]
    public void A_slab_moves_from_its_disk_or_from_the_others(int position, bool isSourceMissing)
    {
        int from = _host.Row(0)!.Places[position].Disk;
        int to = Enumerable.Range(0, 4).Except(_host.Row(0)!.Places.Select(place => place.Disk)).Single();
        if (isSourceMissing)
        {
            Evict(from);
        }

        Assert.Equal(RepairEnd.Done, _lane.Run(_host.Move(0, position, to, new SimPacer(_lane))));
        Assert.Equal(to, _host.Row(0)!.Places[position].Disk);
        Evict(_host.Row(0)!.Places[(position + 1) % 3].Disk);
        AssertReads(0, _data.Length);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void Scrub_finds_and_heals_rot_in_any_position(int position)
    {
        SlabPlace place = _host.Row(0)!.Places[position];
        _disks[place.Disk].Media.Write(place.DataOffset + 4096, new byte[4096]);
        Assert.Equal(1, Scrub().BlocksHealed);
        Assert.Equal(0, Scrub().BlocksHealed);
        AssertReads(0, _data.Length);
    }

    [Fact]
    public void Entries_of_a_lost_disk_are_read_from_the_next_one_after_a_restart()
    {
        int disk = _host.Row(0)!.Places[1].Disk;
        Assert.Equal(IoError.None, _lane.Run(_space.Close()));
        _map.Evict(disk);
        Open(isNew: false);
        AssertReads(0, _data.Length);
    }

    [Fact]
    public void What_was_flushed_outlives_a_power_cut()
    {
        foreach (SimDisk disk in _disks)
        {
            disk.Media.LosePower((_, _) => false);
        }

        Open(isNew: false);
        AssertReads(0, _data.Length);
    }

    [Fact]
    public void The_extents_of_a_row_are_its_columns()
    {
        ILayout layout = XorEngine.Descriptor.Layout(s_shape);
        PositionPlace[] places = [.. Enumerable.Range(0, layout.Positions).Select(position => PositionPlace.Of(layout, 2, position))];
        Assert.Equal([0, 1, 2], places.Select(static place => place.Column));
        Assert.All(places, place => Assert.Equal((0, 2 * layout.RowSize), (place.Copy, place.Offset)));
    }

    private void Open(bool isNew)
    {
        _host = new SimSpaceHost(_lane, s_shape, _disks, _map);
        SpaceOptions options = new()
        {
            Space = 7,
            PoolTag = 1,
            Shape = s_shape,
            Resiliency = XorEngine.Descriptor,
            Length = 2 * XorEngine.Descriptor.Layout(s_shape).RowSize,
            IsThin = true,
            Rows = [.. _map.Rows.Values.Select(row => row with { Stale = (ushort[])row.Stale.Clone() })],
            LogCopies = [.. Enumerable.Range(0, 2).Select(copy => (IReadOnlyList<SlabPlace>)[SimSpaceHost.Place(s_shape, copy, 0)])],
            StaleLogCopies = _map.StaleLogCopies,
            LogOwner = new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
            LogBlocksMax = 56,
        };
        _map.Used.Add((0, 0));
        _map.Used.Add((1, 0));
        _space = _lane.Run(isNew ? Space.Create(_host, options) : Space.Open(_host, options));
        _host.Space = _space;
        Assert.Equal("", _space.FaultReason);
    }

    private void Evict(int disk) => Assert.Equal(IoError.None, _lane.Run(_host.Evict(disk, "it was pulled")));

    private ScrubFindings Scrub()
    {
        ScrubFindings findings = new();
        for (ScrubStride stride = default; !stride.IsDone;)
        {
            stride = _lane.Run(_space.Scrub(stride.Cursor, findings));
            Assert.Equal(IoError.None, stride.Error);
        }

        return findings;
    }

    private IoError Write(long offset, ReadOnlySpan<byte> data)
    {
        IoBuffer buffer = _lane.Buffers.Rent(data.Length);
        data.CopyTo(buffer.Span);
        IoError error = _lane.Run(_space.Write(offset, buffer, WriteFlags.None));
        _lane.Buffers.Return(buffer);
        return error;
    }

    private void AssertReads(int offset, int length)
    {
        IoBuffer buffer = _lane.Buffers.Rent(length);
        Assert.Equal(IoError.None, _lane.Run(_space.Read(offset, buffer)));
        Assert.True(buffer.Span.SequenceEqual(_data.AsSpan(offset, length)));
        _lane.Buffers.Return(buffer);
    }
}
