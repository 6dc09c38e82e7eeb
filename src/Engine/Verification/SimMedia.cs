namespace TierSpaces.Engine.Verification;

/// <summary>
/// Content of a simulated disk: a durable image and the ordered writes that are still only in its volatile cache. Sectors are immutable arrays, so a
/// snapshot is a shallow copy and one run can be cut at thousands of points.
/// </summary>
public sealed class SimMedia
{
    private const int LongCache = 16;
    private const int LongestCache = 4096;

    private static readonly byte[] s_smallZeros = new byte[512];
    private static readonly byte[] s_largeZeros = new byte[4096];

    private readonly SectorMap _durable;
    private readonly List<CachedWrite> _cache;

    /// <summary>An all-zero disk.</summary>
    /// <param name="key">Identity of the simulated device (device and inode).</param>
    /// <param name="length">Bytes.</param>
    /// <param name="sectorSize">Unit written atomically, 512 or 4096 bytes.</param>
    public SimMedia(string key, long length, int sectorSize)
        : this(key, length, sectorSize, new SectorMap(length / sectorSize), [])
    {
    }

    private SimMedia(string key, long length, int sectorSize, SectorMap durable, List<CachedWrite> cache)
    {
        Key = key;
        Length = length;
        SectorSize = sectorSize;
        _durable = durable;
        _cache = cache;
    }

    /// <summary>Identity of the device.</summary>
    public string Key { get; }

    /// <summary>Times that the disk has lost its power, and with it what was in its cache.</summary>
    public ulong PowerLosses { get; private set; }

    /// <summary>Size in bytes.</summary>
    public long Length { get; }

    /// <summary>Atomic unit in bytes.</summary>
    public int SectorSize { get; }

    /// <summary>Writes in the volatile cache.</summary>
    public int CachedWrites => _cache.Count;

    /// <summary>Reads through the cache.</summary>
    public void Read(long offset, Span<byte> target)
    {
        long first = offset / SectorSize;
        int count = target.Length / SectorSize;
        for (int i = 0; i < count; i++)
        {
            Span<byte> piece = target.Slice(i * SectorSize, SectorSize);
            if (_durable[first + i] is { } data)
            {
                data.CopyTo(piece);
            }
            else
            {
                piece.Clear();
            }
        }

        foreach (CachedWrite write in _cache)
        {
            long begin = Math.Max(first, write.FirstSector);
            long end = Math.Min(first + count, write.FirstSector + write.Sectors.Length);
            for (long sector = begin; sector < end; sector++)
            {
                write.Sectors[sector - write.FirstSector].CopyTo(target[(int)((sector - first) * SectorSize)..]);
            }
        }
    }

    /// <summary>Puts a write into the cache.</summary>
    public void Write(long offset, ReadOnlySpan<byte> data)
    {
        _cache.Add(new CachedWrite(offset / SectorSize, SectorsOf(data, SectorSize)));
    }

    /// <summary>Puts a write into the cache whose sectors are never changed any more.</summary>
    internal void Write(long offset, byte[][] sectors) => _cache.Add(new CachedWrite(offset / SectorSize, sectors));

    /// <summary>
    /// Destaging of a disk by itself: in a long cache the oldest write becomes durable when one place is written twice running, and in a very long one anyway.
    /// Returns the number of such writes.
    /// </summary>
    internal int WriteBack()
    {
        if (_cache.Count <= LongCache || (_cache.Count <= LongestCache && _cache[^1].FirstSector != _cache[^2].FirstSector))
        {
            return 0;
        }

        Harden(1);
        return 1;
    }

    /// <summary>A copy of data in sectors; those that are all zero are one and the same.</summary>
    internal static byte[][] SectorsOf(ReadOnlySpan<byte> data, int sectorSize)
    {
        byte[] zeros = sectorSize == s_smallZeros.Length ? s_smallZeros : s_largeZeros;
        byte[][] sectors = new byte[data.Length / sectorSize][];
        for (int i = 0; i < sectors.Length; i++)
        {
            ReadOnlySpan<byte> sector = data.Slice(i * sectorSize, sectorSize);
            sectors[i] = sector.ContainsAnyExcept((byte)0) ? sector.ToArray() : zeros;
        }

        return sectors;
    }

    /// <summary>Gives the content up: the medium is not used any more, and what still refers to its world keeps no sectors. Copies keep theirs.</summary>
    internal void Release()
    {
        _durable.Clear();
        _cache.Clear();
    }

    /// <summary>Makes the oldest <paramref name="count"/> cached writes durable.</summary>
    public void Harden(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Apply(_durable, _cache[i], static (_, _) => true);
        }

        _cache.RemoveRange(0, count);
    }

    /// <summary>Overwrites durable bytes behind the engine's back: rot, a misdirected write, a torn page.</summary>
    public void Corrupt(long offset, Func<byte[], byte[]> change)
    {
        long sector = offset / SectorSize;
        byte[] old = Find(sector) ?? new byte[SectorSize];
        Harden(_cache.Count);
        _durable.Write(sector, change((byte[])old.Clone()));
    }

    /// <summary>Flips a bit of a sector that was written, wherever its newest contents are: rot.</summary>
    public void Rot(Random random)
    {
        long[] written = [.. _durable.Written()];
        if (written.Length == 0)
        {
            return;
        }

        Change(written[random.Next(written.Length)] * SectorSize, sector =>
        {
            sector[random.Next(sector.Length)] ^= (byte)(1 << random.Next(8));
            return sector;
        });
    }

    /// <summary>Changes a sector behind the engine's back, wherever its newest contents are; what is cached stays so.</summary>
    internal void Change(long offset, Func<byte[], byte[]> change)
    {
        long sector = offset / SectorSize;
        byte[] rotten = change((byte[])(Find(sector) ?? new byte[SectorSize]).Clone());
        int newest = _cache.FindLastIndex(write => sector >= write.FirstSector && sector < write.FirstSector + write.Sectors.Length);
        if (newest < 0)
        {
            _durable.Write(sector, rotten);
            return;
        }

        byte[][] sectors = (byte[][])_cache[newest].Sectors.Clone();   // snapshots share the old ones
        sectors[sector - _cache[newest].FirstSector] = rotten;
        _cache[newest] = new CachedWrite(_cache[newest].FirstSector, sectors);
    }

    /// <summary>The disk as a power cut leaves it: of the cached writes, only the sectors that <paramref name="keep"/> names.</summary>
    public SimMedia Cut(Func<int, int, bool> keep)
    {
        SectorMap durable = _durable.Copy();
        for (int i = 0; i < _cache.Count; i++)
        {
            int write = i;
            Apply(durable, _cache[i], (_, sector) => keep(write, sector));
        }

        return new SimMedia(Key, Length, SectorSize, durable, []) { PowerLosses = PowerLosses + 1 };
    }

    /// <summary>The disk itself loses power: of its cached writes only those stay that <paramref name="keep"/> names.</summary>
    public void LosePower(Func<int, int, bool> keep)
    {
        for (int i = 0; i < _cache.Count; i++)
        {
            int write = i;
            Apply(_durable, _cache[i], (_, sector) => keep(write, sector));
        }

        _cache.Clear();
        PowerLosses++;
    }

    /// <summary>An independent copy, cache included: what a crash of the process alone leaves.</summary>
    public SimMedia Snapshot() => new(Key, Length, SectorSize, _durable.Copy(), [.. _cache]) { PowerLosses = PowerLosses };

    /// <summary>The same contents under another device key: a clone.</summary>
    public SimMedia CloneAs(string key) => new(key, Length, SectorSize, _durable.Copy(), [.. _cache]) { PowerLosses = PowerLosses };

    /// <summary>Hash of everything readable, to compare images.</summary>
    public ulong Hash()
    {
        ulong hash = 0;
        HashSet<long> seen = [];
        foreach (CachedWrite write in _cache)
        {
            for (int i = 0; i < write.Sectors.Length; i++)
            {
                seen.Add(write.FirstSector + i);
            }
        }

        seen.UnionWith(_durable.Written());
        foreach (long sector in seen)
        {
            byte[] data = Find(sector)!;
            if (data.AsSpan().ContainsAnyExcept((byte)0))
            {
                hash += (Primitives.Crc32c.Compute(data) + 1UL) * ((ulong)sector * 0x9E3779B97F4A7C15 | 1);
            }
        }

        return hash;
    }

    private static void Apply(SectorMap image, CachedWrite write, Func<CachedWrite, int, bool> keep)
    {
        for (int i = 0; i < write.Sectors.Length; i++)
        {
            if (keep(write, i))
            {
                image.Write(write.FirstSector + i, write.Sectors[i]);
            }
        }
    }

    private byte[]? Find(long sector)
    {
        for (int i = _cache.Count - 1; i >= 0; i--)
        {
            long index = sector - _cache[i].FirstSector;
            if (index >= 0 && index < _cache[i].Sectors.Length)
            {
                return _cache[i].Sectors[index];
            }
        }

        return _durable[sector];
    }

    private readonly record struct CachedWrite(long FirstSector, byte[][] Sectors);
}
