using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>Content of a page of the checkpoint heap, in the order in which pages are applied.</summary>
public enum PageKind : byte
{
    /// <summary>Position, and the pages of the table.</summary>
    Root = 1,

    /// <summary>The pages of the state, in order.</summary>
    Table = 2,

    /// <summary>The pool's settings.</summary>
    Pool = 16,

    /// <summary>Disks.</summary>
    Disk = 17,

    /// <summary>Virtual disks.</summary>
    VirtualDisk = 18,

    /// <summary>Spaces.</summary>
    Space = 19,

    /// <summary>Rows of spaces, each leaf of them with its stale marks.</summary>
    Rows = 20,

    /// <summary>Stale marks of the rows of one rows page, where they do not fit in it.</summary>
    Stale = 21,

    /// <summary>Long operations.</summary>
    Job = 22,

    /// <summary>Counters and the newest session.</summary>
    Counters = 23,

    /// <summary>Slices of a tiered virtual disk.</summary>
    Slices = 24,

    /// <summary>Tier templates.</summary>
    TierTemplate = 32,

    /// <summary>Parts of pins.</summary>
    Pin = 40,
}

/// <summary>Part of the state that a page holds.</summary>
/// <param name="Kind">Kind of part.</param>
/// <param name="Id">Identity of a virtual disk, job, tier template or pin; empty on a page of several records.</param>
/// <param name="Number">Number of a disk or space; 0 on a page of several of them.</param>
/// <param name="Index">Index of the page among several; from 2^31 on, a page whose records share it, or rows with their stale marks.</param>
public readonly record struct PageKey(PageKind Kind, Guid Id, uint Number, uint Index);

/// <summary>
/// A page of the checkpoint heap. Pages are never changed in place: a new checkpoint writes the changed contents to free pages, then a table, then a root. It
/// becomes valid when a superblock names the root. It names pages by place and checksum.
/// </summary>
/// <param name="Generation">Generation that wrote the page.</param>
/// <param name="Key">Part of the state that the page holds.</param>
public readonly record struct CheckpointPage(ulong Generation, PageKey Key)
{
    /// <summary>"TSCP".</summary>
    internal const uint Magic = 0x50435354;

    /// <summary>Most bytes of contents.</summary>
    public const int Capacity = PoolBlock.BodyCapacity - HeaderBytes;

    /// <summary>Pages that one table page names.</summary>
    public const int TableEntries = Capacity / PageReference.Bytes;

    private const int HeaderBytes = 33;

    /// <summary>Layout of the body, for the documentation; offsets count from the start of the block.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (56, 8, "generation"), (64, 1, "kind"), (65, 16, "id of a virtual disk, job, tier template or pin; 0 where several share the page"),
        (81, 4, "number of a disk or space; 0 where several share the page"), (85, 4,
        "index; from 2^31 on: records that share the page, or rows with their stale marks"),
        (89, 4007, "root: generation (8), journal position (20), then table pages; table: pages, each page (4) and CRC32C of its contents (4); else records"),
    ];

    /// <summary>Writes the page at its place.</summary>
    public void Encode(Span<byte> block, PoolBlock place, ReadOnlySpan<byte> contents)
    {
        ByteWriter body = new(PoolBlock.BodyCapacity);
        body.U64(Generation);
        body.U8((byte)Key.Kind);
        body.Guid(Key.Id);
        body.U32(Key.Number);
        body.U32(Key.Index);
        body.Raw(contents);
        place.Seal(block, Magic, body.Written);
    }

    /// <summary>Reads a page from its place; false when it is not a whole page of this pool and disk.</summary>
    public static bool TryDecode(ReadOnlySpan<byte> block, PoolBlock place, out CheckpointPage page, out ReadOnlySpan<byte> contents)
    {
        page = default;
        contents = default;
        if (place.Open(block, Magic, out ReadOnlySpan<byte> bytes) != BlockStatus.Intact)
        {
            return false;
        }

        ByteReader body = new(bytes);
        ulong generation = body.U64();
        PageKind kind = (PageKind)body.U8();
        page = new CheckpointPage(generation, new PageKey(kind, body.Guid(), body.U32(), body.U32()));
        contents = body.Take(body.Remaining);
        return !body.Failed && Enum.IsDefined(kind);
    }
}

/// <summary>A page as the page above it names it.</summary>
/// <param name="Page">Index in the heap.</param>
/// <param name="Checksum">CRC-32C of its contents.</param>
public readonly record struct PageReference(uint Page, uint Checksum)
{
    /// <summary>Bytes of a reference.</summary>
    internal const int Bytes = 8;

    internal void Encode(ByteWriter to)
    {
        to.U32(Page);
        to.U32(Checksum);
    }

    internal static PageReference Decode(ref ByteReader from) => new(from.U32(), from.U32());

    internal static List<PageReference> DecodeAll(ref ByteReader from)
    {
        List<PageReference> all = new(from.Remaining / Bytes);
        while (from.Remaining > 0 && !from.Failed)
        {
            all.Add(Decode(ref from));
        }

        return all;
    }
}
