using System.Buffers.Binary;
using System.Security.Cryptography;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

// Behind the checkpoint heap, in the room up to the first slab, which is at least 15 blocks on every disk of every release:
//
//   8 lease blocks, by session | 4 claims, by place
//
// A block that is neither blank nor whole is damaged. It makes the area count as unread where the other disks are the majority; else the last holder opens the
// pool again once nothing has changed for as long as a host that serves may be silent. A holder blanks what it finds damaged.

/// <summary>Content of the lease area of one disk.</summary>
public sealed class LeaseArea
{
    /// <summary>Lease blocks.</summary>
    public const int Blocks = 8;

    /// <summary>Places for claims.</summary>
    public const int Claims = 4;

    /// <summary>Bytes of the area.</summary>
    public const int Bytes = (Blocks + Claims) * PoolBlock.Size;

    /// <summary>Hash of an area without claims.</summary>
    public static readonly ulong NoClaims = HashOf(new byte[Claims * PoolBlock.Size]);

    private readonly LeaseBlock?[] _blocks = new LeaseBlock?[Blocks];
    private readonly LeaseClaim?[] _claims = new LeaseClaim?[Claims];

    private readonly byte[] _bytes;

    private LeaseArea(byte[] bytes) => _bytes = bytes;

    /// <summary>The lease blocks that are whole.</summary>
    public IEnumerable<LeaseBlock> Leases => _blocks.OfType<LeaseBlock>();

    /// <summary>The claims that are whole.</summary>
    public IEnumerable<LeaseClaim> Claimed => _claims.OfType<LeaseClaim>();

    /// <summary>Numbers of the blocks that are neither blank nor whole.</summary>
    public IReadOnlyList<int> Torn { get; private init; } = [];

    /// <summary>Whether a block is there that is neither blank nor whole.</summary>
    public bool IsTorn => Torn.Count > 0;

    /// <summary>Whether one of them is a claim.</summary>
    public bool HasTornClaim => Torn.Any(static number => number >= Blocks);

    /// <summary>Hash of the lease blocks: a host that renews changes it.</summary>
    public ulong BlocksHash => HashOf(_bytes.AsSpan(0, Blocks * PoolBlock.Size));

    /// <summary>Hash of the claims.</summary>
    public ulong ClaimsHash
    {
        get
        {
            ReadOnlySpan<byte> claims = _bytes.AsSpan(Blocks * PoolBlock.Size, Claims * PoolBlock.Size);
            return claims.ContainsAnyExcept((byte)0) ? HashOf(claims) : NoClaims;
        }
    }

    /// <summary>Number of the block in the area that a session writes.</summary>
    public static int BlockOf(ulong session) => (int)(session % Blocks);

    /// <summary>Number of the block in the area at which a node writes its claim: its own, else one that is free, else the one of the lowest session.</summary>
    public int PlaceFor(Guid node)
    {
        int own = Array.FindIndex(_claims, claim => claim?.Node == node);
        int free = own >= 0 ? own : Array.IndexOf(_claims, null);
        return Blocks + (free >= 0 ? free : Array.IndexOf(_claims, _claims.MinBy(static claim => claim!.Session.Session)));
    }

    /// <summary>Reads the area of a disk.</summary>
    /// <param name="bytes">Its bytes, which stay as they are.</param>
    /// <param name="pool">The pool.</param>
    /// <param name="disk">The disk.</param>
    /// <param name="offset">Byte offset of the area on the disk.</param>
    internal static LeaseArea Decode(byte[] bytes, PoolId pool, DiskId disk, long offset)
    {
        List<int> torn = [];
        LeaseBlock?[] blocks = new LeaseBlock?[Blocks];
        LeaseClaim?[] claims = new LeaseClaim?[Claims];
        for (int i = 0; i < Blocks + Claims; i++)
        {
            ReadOnlySpan<byte> block = bytes.AsSpan(i * PoolBlock.Size, PoolBlock.Size);
            PoolBlock place = new(pool, disk, (offset / PoolBlock.Size) + i);
            bool isWhole;
            if (i < Blocks)
            {
                blocks[i] = LeaseBlock.Decode(block, place) is { } lease && BlockOf(lease.Session.Session) == i ? lease : null;
                isWhole = blocks[i] is not null;
            }
            else
            {
                claims[i - Blocks] = LeaseClaim.Decode(block, place);
                isWhole = claims[i - Blocks] is not null;
            }

            if (!isWhole && block.ContainsAnyExcept((byte)0))
            {
                torn.Add(i);
            }
        }

        LeaseArea read = new(bytes) { Torn = torn };
        blocks.CopyTo(read._blocks, 0);
        claims.CopyTo(read._claims, 0);
        return read;
    }

    private static ulong HashOf(ReadOnlySpan<byte> bytes) => BinaryPrimitives.ReadUInt64LittleEndian(SHA256.HashData(bytes));
}
