using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.PowerCuts;

/// <summary>
/// The device of a virtual disk under a load of its own, and the comparison after a cut: each sector holds its last flushed write or a later one that
/// was issued, and from then on what was read.
/// </summary>
internal sealed unsafe class RawDisk : IDisposable
{
    private const int ChunkBytes = 1 << 20;
    private const int SectorsPerBlock = WritePlan.Block / SectorPattern.Size;

    private readonly string _name;
    private readonly int _writer;
    private readonly int _descriptor;
    private readonly long _blocks;
    private readonly ulong[] _numbers;                                  // of the last durable write of each sector
    private readonly Dictionary<long, List<ulong>> _underWay = [];       // by sector: later writes that may have survived

    internal RawDisk(string name, int writer, string device, long bytes)
    {
        (_name, _writer, _blocks) = (name, writer, bytes / WritePlan.Block);
        _numbers = new ulong[_blocks * SectorsPerBlock];
        _descriptor = Libc.OpenPath(device, Libc.OpenReadWrite | Libc.OpenDirect);
        if (_descriptor < 0)
        {
            throw new IOException($"{device} cannot be opened: {Errno.Describe(-_descriptor)}");
        }
    }

    /// <summary>Sectors compared.</summary>
    internal long Compared { get; private set; }

    /// <summary>Sectors that hold a write that no flush had covered.</summary>
    internal long Survived { get; private set; }

    /// <summary>Takes over what the disk held, and what a load has written since: so many of its steps are durable, and the next one may be.</summary>
    internal void Load(string path, ulong seed, int boot, long durableSteps)
    {
        byte[] saved = File.ReadAllBytes(path);
        MemoryMarshal.Cast<byte, ulong>(saved).CopyTo(_numbers);
        long step = 0;
        foreach (PlannedStep planned in WritePlan.Steps(seed, boot, _writer, _blocks))
        {
            foreach (PlannedWrite write in planned.Batches.SelectMany(static batch => batch))
            {
                Apply(write, isDurable: step < durableSteps);
            }

            if (++step > durableSteps)
            {
                break;
            }
        }
    }

    internal void Save(string path)
    {
        using FileStream file = new(path, FileMode.Create);
        file.Write(MemoryMarshal.AsBytes(_numbers.AsSpan()));
        file.Flush(flushToDisk: true);
    }

    /// <summary>Reads all of it. The content found is the disk's from then on.</summary>
    /// <returns>The error, or null.</returns>
    internal string? Verify()
    {
        byte* chunk = (byte*)NativeMemory.AlignedAlloc(ChunkBytes, WritePlan.Block);
        byte[] expected = new byte[SectorPattern.Size];
        string? wrong = null;
        int wrongSectors = 0;
        for (long at = 0; at < _blocks * WritePlan.Block; at += ChunkBytes)
        {
            int length = (int)Math.Min(ChunkBytes, (_blocks * WritePlan.Block) - at);
            nint got = Libc.ReadAt(_descriptor, chunk, (nuint)length, at);
            if (got != length)
            {
                wrong ??= $"{_name}: a read of {length} bytes at {at} returned {got} ({Errno.Describe(Libc.LastError())})";
                break;
            }

            for (int offset = 0; offset < length; offset += SectorPattern.Size)
            {
                string? problem = Judge((at + offset) / SectorPattern.Size, new ReadOnlySpan<byte>(chunk + offset, SectorPattern.Size), expected);
                wrongSectors += problem is null ? 0 : 1;
                wrong ??= problem;
            }
        }

        NativeMemory.AlignedFree(chunk);
        _underWay.Clear();
        return wrongSectors > 1 ? $"{wrong} ({wrongSectors} sectors of this disk are wrong)" : wrong;
    }

    /// <summary>Writes until the machine ends.</summary>
    internal void Write(ulong seed, int boot, FlushReport report)
    {
        long done = 0;
        foreach (PlannedStep step in WritePlan.Steps(seed, boot, _writer, _blocks))
        {
            foreach (PlannedWrite[] batch in step.Batches)
            {
                Parallel.ForEach(Partitioner.Create(batch, EnumerablePartitionerOptions.NoBuffering), write => Execute(write, step.IsDurable));
            }

            if (!step.IsDurable && Libc.SyncData(_descriptor) != 0)
            {
                throw new IOException($"{_name}: a flush failed: {Errno.Describe(Libc.LastError())}");
            }

            report.Write(_writer, ++done);
        }
    }

    public void Dispose() => _ = Libc.Close(_descriptor);

    private void Apply(PlannedWrite write, bool isDurable)
    {
        ulong number = write.IsZero ? 0 : write.Number;
        for (long sector = write.First * SectorsPerBlock; sector < (write.First + write.Count) * SectorsPerBlock; sector++)
        {
            if (isDurable)
            {
                _numbers[sector] = number;
            }
            else if (_underWay.TryGetValue(sector, out List<ulong>? later))
            {
                later.Add(number);
            }
            else
            {
                _underWay[sector] = [number];
            }
        }
    }

    private void Execute(PlannedWrite write, bool isDurable)
    {
        long offset = write.First * WritePlan.Block;
        int length = write.Count * WritePlan.Block;
        if (write.IsZero)
        {
            ulong* range = stackalloc ulong[] { (ulong)offset, (ulong)length };
            Require(Libc.Control(_descriptor, Libc.BlockZeroOut, range) == 0, "zeroing", write);
            return;
        }

        byte* data = (byte*)NativeMemory.AlignedAlloc((nuint)length, WritePlan.Block);
        for (int at = 0; at < length; at += SectorPattern.Size)
        {
            SectorPattern.Fill(new Span<byte>(data + at, SectorPattern.Size), _writer, (offset + at) / SectorPattern.Size, write.Number);
        }

        IoVector vector = new() { Base = data, Length = (nuint)length };
        nint written = Libc.WriteVectorsAt(_descriptor, &vector, 1, (nuint)length, offset, isDurable ? Libc.RwDataSync : 0);
        Require(written == length, "a write", write);
        NativeMemory.AlignedFree(data);
    }

    private void Require(bool holds, string what, PlannedWrite write)
    {
        if (!holds)
        {
            throw new IOException($"{_name}: {what} of {write.Count} blocks at block {write.First} failed: {Errno.Describe(Libc.LastError())}");
        }
    }

    private string? Judge(long sector, ReadOnlySpan<byte> data, byte[] expected)
    {
        Compared++;
        ulong number = SectorPattern.NumberOf(data);
        bool isDurable = number == _numbers[sector];
        if (isDurable || (_underWay.TryGetValue(sector, out List<ulong>? later) && later.Contains(number)))
        {
            SectorPattern.Fill(expected, _writer, sector, number);
            if (data.SequenceEqual(expected))
            {
                Survived += isDurable ? 0 : 1;
                _numbers[sector] = number;
                return null;
            }
        }

        string allowed = _underWay.TryGetValue(sector, out later) ? $", under way: {string.Join(", ", later.Select(static n => $"{n:x}"))}" : "";
        ulong place = MemoryMarshal.Cast<byte, ulong>(data)[1];
        return $"{_name}: sector {sector} reads as write {number:x} of place {place:x}; flushed: {_numbers[sector]:x}{allowed}";
    }
}
