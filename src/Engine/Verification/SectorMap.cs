namespace TierSpaces.Engine.Verification;

/// <summary>
/// Sectors of a simulated disk by number, in chunks that copies share until one of them writes: a copy costs a pointer per chunk.
/// The sectors themselves are never changed in place.
/// </summary>
internal sealed class SectorMap
{
    private const int ChunkSectors = 128;

    private readonly byte[]?[]?[] _chunks;
    private readonly bool[] _isShared;   // with a copy: cloned before it is written

    internal SectorMap(long sectors)
    {
        _chunks = new byte[]?[]?[(sectors + ChunkSectors - 1) / ChunkSectors];
        _isShared = new bool[_chunks.Length];
    }

    private SectorMap(byte[]?[]?[] chunks)
    {
        _chunks = chunks;
        _isShared = new bool[chunks.Length];
        Array.Fill(_isShared, true);
    }

    /// <summary>What was written to a sector; null: nothing yet. Setting it leaves every copy as it is.</summary>
    internal byte[]? this[long sector]
    {
        get => _chunks[sector / ChunkSectors]?[sector % ChunkSectors];
        set
        {
            long index = sector / ChunkSectors;
            byte[]?[] chunk = _chunks[index] ??= new byte[]?[ChunkSectors];
            if (_isShared[index])
            {
                _chunks[index] = chunk = (byte[]?[])chunk.Clone();
                _isShared[index] = false;
            }

            chunk[sector % ChunkSectors] = value;
        }
    }

    /// <summary>Sectors that were written, in their order.</summary>
    internal IEnumerable<long> Written()
    {
        for (long index = 0; index < _chunks.Length; index++)
        {
            for (int i = 0; _chunks[index] is { } chunk && i < ChunkSectors; i++)
            {
                if (chunk[i] is not null)
                {
                    yield return (index * ChunkSectors) + i;
                }
            }
        }
    }

    /// <summary>An independent copy.</summary>
    internal SectorMap Copy()
    {
        Array.Fill(_isShared, true);
        return new SectorMap((byte[]?[]?[])_chunks.Clone());
    }
}
