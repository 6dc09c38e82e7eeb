using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>A space as its pool remembers it: its owner and the shape of its rows.</summary>
/// <param name="Id">Number in the pool.</param>
/// <param name="Owner">The virtual disk it belongs to.</param>
/// <param name="Kind">Content of the space.</param>
/// <param name="Columns">Columns of a row, at least 1.</param>
/// <param name="Copies">Copies of each column, at least 1; columns × copies is at most 256.</param>
public sealed record SpaceDescription(SpaceId Id, VirtualDiskId Owner, SpaceKind Kind, ushort Columns, ushort Copies)
{
    /// <summary>Most slabs a row may have.</summary>
    public const int MaxPositions = 256;

    /// <summary>Most rows a space may have.</summary>
    public const int MaxRows = 1 << 24;

    /// <summary>
    /// Owner pool: pool of the virtual disk that it belongs to, if that is another one. The space is then the ring of a remote write cache, and
    /// this pool is its cache pool. None: the virtual disk is of this pool.
    /// </summary>
    public PoolId OwnerPool { get; init; }

    /// <summary>Whether it is the ring of a remote cache: its virtual disk is in another pool.</summary>
    public bool IsRemote => OwnerPool != PoolId.None;

    /// <summary>Slabs of a row. Position = column × copies + copy.</summary>
    public int Positions => Columns * Copies;

    internal void Encode(ByteWriter to)
    {
        to.U32(Id.Value);
        to.Guid(Owner.Value);
        to.U8((byte)Kind);
        to.U16(Columns);
        to.U16(Copies);
        if (IsRemote)
        {
            to.Guid(OwnerPool.Value);
        }
    }

    internal static SpaceDescription Decode(ref ByteReader from) => new(
        new SpaceId(from.U32()), new VirtualDiskId(from.Guid()), (SpaceKind)from.U8(), from.U16(), from.U16())
    {
        OwnerPool = from.Remaining > 0 ? new PoolId(from.Guid()) : PoolId.None,
    };
}
