using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.Verification;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Resiliency.Parity;

/// <summary>Single and dual parity over simulated disks, against a model of the data.</summary>
public sealed class ParityEngineTests
{
    private const int Block = 4096;
    private const int Interleave = 16 << 10;
    private const int Rows = 2;

    private readonly SimLane _lane = new(1);
    private SimSpaceMap _map = new();
    private readonly Random _random = new(7);
    private SpaceShape _shape;
    private SimDisk[] _disks = [];
    private SimSpaceHost _host = null!;
    private Space _space = null!;
    private byte[] _data = [];

    public static TheoryData<int, int> Shapes() => new() { { 3, 1 }, { 4, 1 }, { 5, 1 }, { 8, 1 }, { 4, 2 }, { 7, 2 }, { 8, 2 } };

    [Theory]
    [MemberData(nameof(Shapes))]
    public void Writes_of_any_size_read_back(int columns, int parities)
    {
        Create(columns, parities);
        WriteAtRandom(60);
        AssertReads();
        Flush();
        Reopen();
        AssertReads();
        AssertIsWhole();
    }

    [Theory]
    [MemberData(nameof(Shapes))]
    public void Any_positions_up_to_the_parities_may_be_missing_and_come_back(int columns, int parities)
    {
        Create(columns, parities);
        WriteAtRandom(30);
        foreach (int[] missing in Combinations(columns, parities))
        {
            Evict(missing);
            AssertReads();
            WriteAtRandom(4);
            UnmapAtRandom(2);
            AssertReads();
            Flush();
            Return();
            AssertIsWhole();
        }

        AssertReads();
    }

    [Theory]
    [MemberData(nameof(Shapes))]
    public void Parts_of_stripes_are_unmapped_and_the_rest_survives_every_disk(int columns, int parities)
    {
        Create(columns, parities);
        WriteAtRandom(30);
        UnmapAtRandom(30);
        AssertReads();
        AssertIsWhole();
        foreach (int[] missing in Combinations(columns, parities))
        {
            Evict(missing);
            AssertReads();
            Return();
        }

        Unmap(0, _data.Length);
        AssertReads();
        _lane.Run(_lane.Delay(1_000_000_000));
        Assert.Null(_host.Row(0));   // a thin row with nothing left in it goes back
    }

    [Theory]
    [MemberData(nameof(Shapes))]
    public void Slabs_move_from_their_disks_and_from_the_others(int columns, int parities)
    {
        Create(columns, parities, spares: parities + 1);
        WriteAtRandom(30);
        for (int position = 0; position < columns; position++)
        {
            bool isMissing = position % 2 == 1;
            int from = _host.Row(0)!.Places[position].Disk;
            int to = Enumerable.Range(0, _disks.Length).Except(_host.Row(0)!.Places.Select(static place => place.Disk))
                .First(disk => !_map.Evicted.Contains(disk));
            if (isMissing)
            {
                Evict(position);
            }

            Assert.Equal(RepairEnd.Done, _lane.Run(_host.Move(0, position, to, new SimPacer(_lane))));
            if (isMissing)
            {
                Return();
            }

            AssertReads();
        }

        AssertIsWhole();
    }

    [Theory]
    [MemberData(nameof(Shapes))]
    public void Rot_is_found_and_healed_in_every_position(int columns, int parities)
    {
        Create(columns, parities);
        Write(0, _data.Length);
        Flush();
        for (int position = 0; position < columns; position++)
        {
            SlabPlace place = _host.Row(0)!.Places[position];
            _disks[place.Disk].Media.Write(place.DataOffset + (position * Block), new byte[Block]);
            Assert.Equal((1, 0), (Scrub().BlocksHealed, Scrub().BlocksHealed));
            _disks[place.Disk].Media.Write(place.DataOffset + Interleave, new byte[Block]);
            AssertReads();
            Scrub();
        }

        AssertIsWhole();
    }

    [Fact]
    public void A_block_that_a_read_finds_damaged_is_whole_again_on_its_disk()
    {
        Create(4, 1);
        Write(0, _data.Length);
        Flush();
        ParityLayout layout = new(_shape);
        SlabPlace place = _host.Row(0)!.Places[layout.DataColumn(0, 0)];
        _disks[place.Disk].Media.Write(place.DataOffset, new byte[Block]);
        Assert.Equal(_data.AsSpan(0, Block).ToArray(), Read(0, Block));

        Evict(layout.ParityColumn(0, 0));   // nothing is left that it could be computed from

        Assert.Equal(_data.AsSpan(0, Block).ToArray(), Read(0, Block));
    }

    [Theory]
    [MemberData(nameof(Shapes))]
    public void Entries_of_lost_disks_are_read_from_the_others_after_a_restart(int columns, int parities)
    {
        Create(columns, parities);
        WriteAtRandom(30);
        foreach (int[] missing in Combinations(columns, parities).Take(8))
        {
            Flush();
            Assert.Equal(IoError.None, _lane.Run(_space.Close()));
            Array.ForEach(missing, position => _map.Evict(_host.Row(0)!.Places[position].Disk));
            Open(isNew: false);
            AssertReads();
            Return();
        }
    }

    [Theory]
    [MemberData(nameof(Shapes))]
    public void What_was_flushed_outlives_a_power_cut_amid_later_writes(int columns, int parities)
    {
        Create(columns, parities);
        for (int round = 0; round < 6; round++)
        {
            WriteAtRandom(10);
            Flush();
            List<byte[]> states = [[.. _data]];
            for (int write = 0; write < 4; write++)
            {
                WriteAtRandom(1);
                states.Add([.. _data]);
            }

            foreach (SimDisk disk in _disks)
            {
                disk.Media.LosePower((_, _) => _random.Next(2) == 0);
            }

            Open(isNew: false);
            AdoptAny(states);
            AssertIsWhole();
        }
    }

    // Two disks of the line could not be read when a block of it was written: its parity is poisoned, and the record of the write says so. A repair gives
    // the line its redundancy back, which a replay of that record must not take away.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_line_that_a_repair_has_given_its_parity_back_keeps_it_over_a_power_cut(bool isParityRepaired)
    {
        Create(4, 1);
        Write(0, _data.Length);
        Flush();
        ParityLayout layout = new(_shape);
        int[] columns = [layout.DataColumn(0, 0), layout.DataColumn(0, 1)];
        foreach (SlabPlace place in columns.Select(column => _host.Row(0)!.Places[column]))
        {
            _disks[place.Disk].ReadFails = (offset, length) => offset <= place.DataOffset && place.DataOffset < offset + length;
        }

        Write(0, Block);
        Array.ForEach(_disks, static disk => disk.ReadFails = null);
        Evict(isParityRepaired ? layout.ParityColumn(0, 0) : columns[0]);
        Return();
        CutPower();
        Evict(columns[1]);
        AssertReads();
    }

    // The power was cut amid writes of a region in which a block has rotted: making the region agree makes that block whole, too. When the region is
    // clean, nothing makes it agree again: the block is durable by then.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_block_that_has_rotted_in_a_dirty_region_is_whole_on_its_disk_when_the_region_is_used(bool isCutAgain)
    {
        RotInDirtyRegion();
        CutPower();
        Assert.Equal(_data.AsSpan(Interleave, Block).ToArray(), Read(Interleave, Block));   // of another block: a read heals what it finds
        if (isCutAgain)
        {
            _lane.Advance(60_000_000_000);
            Assert.Equal(0, _space.DirtyRegions);
            CutPower();
            Assert.Equal(0, _space.UnresolvedRegions);
        }

        AssertIsWhole();
    }

    [Fact]
    public void A_disk_that_does_not_take_the_block_of_a_dirty_region_that_has_rotted_leaves()
    {
        int disk = RotInDirtyRegion();
        CutPower(failing: disk);
        Assert.Equal(_data.AsSpan(Interleave, Block).ToArray(), Read(Interleave, Block));
        Assert.Null(_host.Members.Disk(disk));
        _disks[disk].WriteFails = null;
        Return();
        AssertAnyMayBeMissing();
    }

    // A whole stripe is not recorded: a record of a part of it that is replayed after it would undo it.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_whole_stripe_that_was_flushed_is_not_undone_by_the_record_of_a_part_of_it(bool isReplayedBefore)
    {
        Create(4, 1);
        Write(0, _data.Length);
        Flush();
        Write(Block, Block);
        if (isReplayedBefore)
        {
            CutPower();
            Assert.Equal(1, _space.Counters.Parity.Replayed);
        }

        Write(0, _shape.DataColumns * Interleave);
        Flush();
        CutPower();
        AssertReads();
    }

    /// <summary>Records in a journal whose space is closed are void after the next opening, and their room is free for records of any size.</summary>
    [Theory]
    [MemberData(nameof(Shapes))]
    public void A_journal_that_was_full_takes_records_after_an_opening(int columns, int parities)
    {
        Create(columns, parities);
        Write(0, _data.Length);
        Flush();
        Evict([.. Enumerable.Range(0, parities)]);   // so that whole stripes are recorded too
        for (int count = 1; count <= 24; count++)
        {
            for (int i = 0; i < count; i++)
            {
                Write(i * Block, Block);
            }

            for (int opening = 0; opening < 4; opening++)
            {
                Reopen();
            }

            Write(0, 4 * _shape.DataColumns * Interleave);
            AssertReads();
        }
    }

    [Fact]
    public void More_disks_gone_than_parities_is_an_error_and_no_wrong_byte()
    {
        Create(5, 1);
        Write(0, _data.Length);
        Flush();
        int[] disks = [.. _host.Row(0)!.Places.Take(2).Select(static place => place.Disk)];
        _map.Evict(disks[0]);
        _map.Evict(disks[1]);
        Open(isNew: false);
        IoBuffer buffer = _lane.Buffers.Rent(Block);
        int errors = 0;
        for (int at = 0; at < _data.Length; at += Block)
        {
            IoError error = _lane.Run(_space.Read(at, buffer));
            errors += error == IoError.None ? 0 : 1;
            Assert.True(error != IoError.None || buffer.Span.SequenceEqual(_data.AsSpan(at, Block)));
        }

        Assert.InRange(errors, 1, _data.Length / Block);
    }

    // A device that was taken away may answer as if it had a bad sector. Nothing counts as lost that it may give when it is back.
    [Fact]
    public void A_disk_that_is_gone_and_answers_as_one_with_a_bad_sector_leaves()
    {
        Create(4, 1);
        Write(0, _data.Length);
        Flush();
        ParityLayout layout = new(_shape);
        int gone = _host.Row(0)!.Places[layout.DataColumn(0, 0)].Disk;
        Evict(layout.DataColumn(0, 1));
        _disks[gone].IsGoneAsBad = _disks[gone].Pulled = true;
        IoBuffer buffer = _lane.Buffers.Rent(Block);

        Assert.NotEqual(IoError.None, _lane.Run(_space.Read(0, buffer)));

        _lane.Buffers.Return(buffer);
        Assert.Null(_host.Members.Disk(gone));
        Assert.Equal(0, _space.Counters.Damage.BlocksLost);
        _disks[gone].Pulled = false;
        Return();
        AssertReads();
    }

    private static IEnumerable<int[]> Combinations(int columns, int parities)
    {
        for (int first = 0; first < columns; first++)
        {
            if (parities == 1)
            {
                yield return [first];
            }

            for (int second = first + 1; second < columns && parities == 2; second++)
            {
                yield return [first, second];
            }
        }
    }

    [Theory]
    [InlineData(4, 1, false)]
    [InlineData(5, 2, false)]
    [InlineData(4, 1, true)]
    public void A_change_that_finds_no_room_half_way_is_done_again(int columns, int parities, bool isJournalFull)
    {
        Create(columns, parities);
        Write(0, _data.Length);
        Flush();
        FailHalfWay(isJournalFull);
        _lane.Advance(5_000_000_000);

        Flush();
        AssertAnyMayBeMissing();
    }

    // Data and parity of the lines do not fit each other until then: whatever computes one of the other has to wait for that.
    [Theory]
    [InlineData("the same block")]
    [InlineData("a block of another strip")]
    [InlineData("the whole stripe")]
    [InlineData("unmapping a block")]
    [InlineData("unmapping a block of another strip")]
    [InlineData("a read without a disk")]
    [InlineData("a read of a block without its disk")]
    [InlineData("a repair of a disk")]
    [InlineData("a scrub")]
    public void A_change_that_failed_half_way_is_done_again_before_another_one_of_its_lines(string next)
    {
        Create(4, 1);
        Write(0, _data.Length);
        Flush();
        int offset = FailHalfWay(isJournalFull: false);

        switch (next)
        {
            case "the same block":
                Write(offset, Block);
                break;
            case "a block of another strip":
                Write(offset + Interleave, Block);
                break;
            case "the whole stripe":
                Write(offset, _shape.DataColumns * Interleave);
                break;
            case "unmapping a block":
                Unmap(offset, Block);
                break;
            case "unmapping a block of another strip":
                Unmap(offset + Interleave, Block);
                break;
            case "a scrub":
                AssertIsWhole();
                break;
            default:
                Evict(new ParityLayout(_shape).DataColumn(offset / (_shape.DataColumns * Interleave), 1));
                if (next == "a read without a disk")
                {
                    AssertReads();
                }
                else if (next == "a read of a block without its disk")
                {
                    Assert.Equal(_data.AsSpan(offset + Interleave, Block).ToArray(), Read(offset + Interleave, Block));
                }

                Return();
                break;
        }

        _lane.Advance(5_000_000_000);
        Flush();
        AssertAnyMayBeMissing();
    }

    [Fact]
    public void A_row_with_a_change_that_waits_for_room_is_not_given_back()
    {
        Create(4, 1);
        ParityLayout layout = new(_shape);
        Write(_shape.DataColumns * Interleave, Block);   // makes the row; in another stripe
        Unmap(_shape.DataColumns * Interleave, Block);
        Write(_shape.DataColumns * Interleave, Block);
        SimDisk full = _disks[_host.Row(0)!.Places[layout.DataColumn(0, 0)].Disk];
        full.Full = true;
        IoBuffer buffer = _lane.Buffers.Rent(Block);
        _random.NextBytes(_data.AsSpan(0, Block));
        _data.AsSpan(0, Block).CopyTo(buffer.Span);
        Assert.Equal(IoError.NoSpace, _lane.Run(_space.Write(0, buffer, WriteFlags.None)));
        _lane.Buffers.Return(buffer);

        Unmap(_shape.DataColumns * Interleave, Block);   // the row holds no block that is entered
        Assert.NotNull(_host.Row(0));
        full.Full = false;
        _lane.Advance(5_000_000_000);
        Flush();
        AssertReads();
        AssertIsWhole();
    }

    /// <summary>Reads everything, also without each disk, or each two, that may be missing.</summary>
    private void AssertAnyMayBeMissing()
    {
        AssertReads();
        foreach (int[] missing in Combinations(_shape.Columns, _shape.Parities))
        {
            Evict(missing);
            AssertReads();
            Return();
        }

        AssertIsWhole();
    }

    /// <summary>Writes a block whose parity finds no room, and makes room again. Returns the offset of the block.</summary>
    /// <param name="isJournalFull">Whether the disk of the parity has a copy of the journal.</param>
    private int FailHalfWay(bool isJournalFull)
    {
        ParityLayout layout = new(_shape);
        int stripe = 0;   // one whose parity is on a disk without a copy of the journal, or with one
        while (_host.Row(0)!.Places[layout.ParityColumn(stripe, 0)].Disk <= _shape.Parities != isJournalFull)
        {
            stripe++;
        }

        SimDisk full = _disks[_host.Row(0)!.Places[layout.ParityColumn(stripe, 0)].Disk];
        full.Full = true;
        int offset = stripe * _shape.DataColumns * Interleave;
        _random.NextBytes(_data.AsSpan(offset, Block));
        IoBuffer buffer = _lane.Buffers.Rent(Block);
        _data.AsSpan(offset, Block).CopyTo(buffer.Span);
        Assert.Equal(IoError.NoSpace, _lane.Run(_space.Write(offset, buffer, WriteFlags.None)));   // the block is written, its parity is not
        _lane.Buffers.Return(buffer);
        full.Full = false;
        return offset;
    }

    private void Create(int columns, int parities, int spares = 0)
    {
        _shape = new SpaceShape(columns, 1, Interleave, 256 << 10, true, parities);
        _disks = [.. Enumerable.Range(0, columns + spares)
            .Select(disk => new SimDisk(_lane, new SimMedia($"disk{disk}", SimSpaceHost.Stride(_shape) * 7, Block)))];
        _data = new byte[Rows * new ParityLayout(_shape).RowSize];
        Open(isNew: true);
    }

    private void Open(bool isNew)
    {
        _host = new SimSpaceHost(_lane, _shape, _disks, _map);
        int logCopies = _shape.Parities + 1;
        SpaceOptions options = new()
        {
            Space = 7,
            PoolTag = 1,
            Shape = _shape,
            Resiliency = LayoutDescriptor.Parity,
            Length = _data.Length,
            IsThin = true,
            Rows = [.. _map.Rows.Values.Select(static row => row with { Stale = (ushort[])row.Stale.Clone() })],
            LogCopies = [.. Enumerable.Range(0, logCopies).Select(copy => (IReadOnlyList<SlabPlace>)
                [SimSpaceHost.Place(_shape, copy, 0), SimSpaceHost.Place(_shape, copy, 1)])],
            StaleLogCopies = _map.StaleLogCopies,
            LogOwner = new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
            LogBlocksMax = 56,
            ParityJournalBlocks = 72,
        };
        for (int copy = 0; copy < logCopies; copy++)
        {
            _map.Used.Add((copy, 0));
            _map.Used.Add((copy, 1));
        }

        _space = _lane.Run(isNew ? Space.Create(_host, options) : Space.Open(_host, options));
        _host.Space = _space;
        Assert.Equal("", _space.FaultReason);
    }

    /// <summary>Damages the first block, whose region is dirty, on its disk, which has no copy of the log. Returns the number of the disk.</summary>
    private int RotInDirtyRegion()
    {
        Create(4, 1);
        Write(0, _data.Length);
        Flush();
        Write(Interleave, Block);   // another strip of the stripe
        Flush();
        SlabPlace place = _host.Row(0)!.Places[new ParityLayout(_shape).DataColumn(0, 0)];
        Assert.True(place.Disk > _shape.Parities);
        _disks[place.Disk].Media.Corrupt(place.DataOffset, static sector => new byte[sector.Length]);
        return place.Disk;
    }

    /// <summary>
    /// The power goes, with everything that the disks have not made durable, and comes back. The former process goes on, on disks that nothing looks at.
    /// </summary>
    private void CutPower(int failing = -1)
    {
        _disks = Array.ConvertAll(_disks, disk => new SimDisk(_lane, disk.SnapshotWithInFlight().Cut(static (_, _) => false)));
        _map = _map.Clone();
        if (failing >= 0)
        {
            _disks[failing].WriteFails = static (_, length) => length == Block;
        }

        Open(isNew: false);
    }

    private void Reopen()
    {
        Assert.Equal(IoError.None, _lane.Run(_space.Close()));
        Open(isNew: false);
    }

    private void Evict(params int[] positions)
    {
        foreach (int disk in positions.Select(position => _host.Row(0)!.Places[position].Disk).ToArray())
        {
            Assert.Equal(IoError.None, _lane.Run(_host.Evict(disk, "it was pulled")));
        }
    }

    private void Return()
    {
        foreach (int disk in Enumerable.Range(0, _disks.Length).Where(_map.Evicted.Contains).ToArray())
        {
            _map.Return(disk);
        }

        _space.OnDiskJoined();
        Assert.Equal(RepairEnd.Done, _lane.Run(_space.Resync(new SimPacer(_lane))));
        Assert.Equal(0, _space.BytesToResync);
    }

    private void Flush() => Assert.Equal(IoError.None, _lane.Run(_space.Flush()));

    private void WriteAtRandom(int count)
    {
        for (int i = 0; i < count; i++)
        {
            int start = _random.Next(_data.Length / Block);
            int most = _random.Next(3) == 0 ? 6 * _shape.DataColumns * Interleave / Block : 8;
            Write(start * Block, Math.Min(1 + _random.Next(most), (_data.Length / Block) - start) * Block);
        }
    }

    private void UnmapAtRandom(int count)
    {
        for (int i = 0; i < count; i++)
        {
            int start = _random.Next(_data.Length / Block);
            Unmap(start * Block, Math.Min(1 + _random.Next(24), (_data.Length / Block) - start) * Block);
        }
    }

    private void Write(int offset, int length)
    {
        _random.NextBytes(_data.AsSpan(offset, length));
        for (int at = 0; at < length; at += 1 << 20)
        {
            int part = Math.Min(1 << 20, length - at);
            IoBuffer buffer = _lane.Buffers.Rent(part);
            _data.AsSpan(offset + at, part).CopyTo(buffer.Span);
            Assert.Equal(IoError.None, _lane.Run(_space.Write(offset + at, buffer, WriteFlags.None)));
            _lane.Buffers.Return(buffer);
        }
    }

    private void Unmap(int offset, int length)
    {
        _data.AsSpan(offset, length).Clear();
        Assert.Equal(IoError.None, _lane.Run(_space.Unmap(offset, length)));
    }

    private byte[] Read(int offset, int length)
    {
        IoBuffer buffer = _lane.Buffers.Rent(length);
        Assert.Equal(IoError.None, _lane.Run(_space.Read(offset, buffer)));
        byte[] read = buffer.Span.ToArray();
        _lane.Buffers.Return(buffer);
        return read;
    }

    private void AssertReads()
    {
        for (int at = 0; at < _data.Length;)
        {
            int length = Math.Min((1 + _random.Next(64)) * Block, _data.Length - at);
            Assert.True(Read(at, length).AsSpan().SequenceEqual(_data.AsSpan(at, length)), $"{length} bytes at {at}");
            at += length;
        }
    }

    // After a power cut each block is as it was flushed, or as it was written since.
    private void AdoptAny(List<byte[]> states)
    {
        for (int at = 0; at < _data.Length; at += Block)
        {
            byte[] read = Read(at, Block);
            bool isAny = states.Exists(state => read.AsSpan().SequenceEqual(state.AsSpan(at, Block)));
            Assert.True(isAny, $"the block at {at} is neither as it was flushed nor as it was written since");
            read.CopyTo(_data, at);
        }
    }

    /// <summary>Everything is there, as the entries say and with its parity.</summary>
    private void AssertIsWhole()
    {
        ScrubFindings findings = Scrub();
        Assert.Equal((0, 0), (findings.BlocksHealed, findings.BlocksLost));
    }

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
}
