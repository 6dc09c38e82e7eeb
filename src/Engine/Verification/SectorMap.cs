namespace TierSpaces.Engine.Verification;

// Sectors are in chunks, chunks in groups. A group and a chunk exist from the first write to them, so a large disk costs a pointer per group until then.
// Copies share groups and chunks until one of them writes.
//
// Invariants
//  1. A sector is never changed in place.
//  2. A group that is shared with a copy is cloned before it is written; of a cloned group every chunk is shared.

/// <summary>Sectors of a simulated disk by number. A disk costs memory for what was written to it, and a copy for what either of the two writes.</summary>
internal sealed class SectorMap
{
    private const int ChunkSectors = 128;
    private const int GroupChunks = 1024;

    private readonly long _chunks;
    private readonly Group?[] _groups;
    private readonly bool[] _isShared;   // with a copy: cloned before it is written

    internal SectorMap(long sectors)
    {
        _chunks = (sectors + ChunkSectors - 1) / ChunkSectors;
        _groups = new Group?[(_chunks + GroupChunks - 1) / GroupChunks];
        _isShared = new bool[_groups.Length];
    }

    private SectorMap(SectorMap other)
    {
        _chunks = other._chunks;
        _groups = (Group?[])other._groups.Clone();
        _isShared = new bool[_groups.Length];
        Array.Fill(_isShared, true);
    }

    /// <summary>Data that was written to a sector; null: none yet.</summary>
    internal byte[]? this[long sector]
    {
        get
        {
            long chunk = sector / ChunkSectors;
            return _groups[chunk / GroupChunks]?.Chunks[chunk % GroupChunks]?[sector % ChunkSectors];
        }
    }

    /// <summary>Writes a sector; every copy stays as it is.</summary>
    internal void Write(long sector, byte[]? data) => ChunkToWrite(sector / ChunkSectors)[sector % ChunkSectors] = data;

    /// <summary>Drops every sector; copies keep theirs.</summary>
    internal void Clear() => Array.Clear(_groups);

    /// <summary>Sectors that were written, in their order.</summary>
    internal IEnumerable<long> Written()
    {
        for (long index = 0; index < _chunks; index++)
        {
            Group? group = _groups[index / GroupChunks];
            if (group is null)
            {
                index += GroupChunks - 1;   // groups begin at multiples
                continue;
            }

            for (int i = 0; group.Chunks[index % GroupChunks] is { } chunk && i < ChunkSectors; i++)
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
        return new SectorMap(this);
    }

    private byte[]?[] ChunkToWrite(long index)
    {
        long number = index / GroupChunks;
        int place = (int)(index % GroupChunks);
        Group group = _groups[number] ??= new Group((int)Math.Min(GroupChunks, _chunks - (number * GroupChunks)));
        if (_isShared[number])
        {
            _groups[number] = group = new Group(group);
            _isShared[number] = false;
        }

        byte[]?[] chunk = group.Chunks[place] ??= new byte[]?[ChunkSectors];
        if (group.IsShared[place])
        {
            group.Chunks[place] = chunk = (byte[]?[])chunk.Clone();
            group.IsShared[place] = false;
        }

        return chunk;
    }

    /// <summary>Neighbouring chunks, each there from the first write to it.</summary>
    private sealed class Group
    {
        internal Group(int chunks)
        {
            Chunks = new byte[]?[]?[chunks];
            IsShared = new bool[chunks];
        }

        internal Group(Group other)
        {
            Chunks = (byte[]?[]?[])other.Chunks.Clone();
            IsShared = new bool[Chunks.Length];
            Array.Fill(IsShared, true);
        }

        internal byte[]?[]?[] Chunks { get; }

        internal bool[] IsShared { get; }
    }
}
