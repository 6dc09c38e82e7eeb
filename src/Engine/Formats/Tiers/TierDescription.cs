using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>One tier of a virtual disk as its pool remembers it: the storage of one medium, with a layout of its own. Sizes are bytes.</summary>
public sealed record TierDescription
{
    /// <summary>Fewest bytes of a tier on disk.</summary>
    internal const int BytesMin = 16 + 2 + 2 + 2 + 2 + 6 + 4 + 1 + 16 + 8;

    /// <summary>Identity; none before it is created.</summary>
    public Guid Id { get; init; }

    /// <summary>
    /// Number of the tier in the slice map, from 0: the number of tiers that its virtual disk had before it. Never changes; on disk it is the tier's place in
    /// the list.
    /// </summary>
    public int Number { get; init; }

    /// <summary>Name shown to users, 1 to 256 characters.</summary>
    public required string FriendlyName { get; init; }

    /// <summary>Words of the user, or empty.</summary>
    public string Description { get; init; } = "";

    /// <summary>Its medium, as Windows numbers it: 3 HDD, 4 SSD, 5 SCM; 0: any.</summary>
    public ushort MediaTypeCode { get; init; }

    /// <summary>Simple, Mirror or Parity.</summary>
    public required string ResiliencySettingName { get; init; }

    /// <summary>Columns.</summary>
    public ushort NumberOfColumns { get; init; } = 1;

    /// <summary>Copies of the data.</summary>
    public ushort NumberOfDataCopies { get; init; } = 1;

    /// <summary>Disks that may fail.</summary>
    public ushort PhysicalDiskRedundancy { get; init; }

    /// <summary>Bytes of a strip.</summary>
    public uint Interleave { get; init; } = 256 << 10;

    /// <summary>Level of the fault domains that hold the copies.</summary>
    public FaultDomainLevel FaultDomainAwareness { get; init; } = FaultDomainLevel.PhysicalDisk;

    /// <summary>Level of the fault domains that no two columns share.</summary>
    public FaultDomainLevel ColumnIsolation { get; init; } = FaultDomainLevel.PhysicalDisk;

    /// <summary>Share of the tier in the size of its virtual disk, a multiple of the slice size.</summary>
    public required long SizeBytes { get; init; }

    /// <summary>
    /// Length of its space: its size, slots that moves and the persisted heat need, and what is no slot; whole rows; 0 before it is created.
    /// </summary>
    public long SpaceBytes { get; init; }

    /// <summary>Space of its data.</summary>
    public SpaceId DataSpace { get; init; }

    /// <summary>Space of its integrity log; none without one.</summary>
    public SpaceId LogSpace { get; init; }

    /// <summary>Name of the layout with parity.</summary>
    public const string ParityName = "Parity";

    /// <summary>Columns of parity among its columns; 0: simple or mirror.</summary>
    public int Parities => ResiliencySettingName == ParityName ? PhysicalDiskRedundancy : 0;

    /// <summary>Columns of data.</summary>
    public int DataColumns => NumberOfColumns - Parities;

    /// <summary>Slabs of a row that replace each other: with parity all of them, else the copies of a column.</summary>
    internal int GroupSize => Parities > 0 ? NumberOfColumns : NumberOfDataCopies;

    /// <summary>Groups of a row; group g has the positions from g × <see cref="GroupSize"/> on.</summary>
    internal int Groups => Parities > 0 ? 1 : NumberOfColumns;

    /// <summary>Positions of a group that may be out without loss of data.</summary>
    internal int LossesMax => Parities > 0 ? Parities : NumberOfDataCopies - 1;

    /// <summary>Copies of its integrity log and of a write cache in front of it: as many as disks may fail, and one more.</summary>
    public ushort RingCopies => (ushort)(NumberOfDataCopies + Parities);

    /// <summary>Bytes of data in a row of its space, from the bytes of a slab.</summary>
    internal long RowBytes(long slab) => DataColumns * ParityGeometry.UsableBytes(slab, Interleave, Parities);

    /// <summary>Slots for slices in its space. No slot is in two rows: with parity a row has a rest that is no slot.</summary>
    /// <param name="slab">Bytes of a slab.</param>
    /// <param name="slice">Bytes of a slice.</param>
    internal long Slots(long slab, long slice) => SlotsIn(SpaceBytes, RowBytes(slab), slice);

    /// <summary>Returns the slots for slices in a space.</summary>
    /// <param name="length">Bytes of the space.</param>
    /// <param name="row">Bytes of a row.</param>
    /// <param name="slice">Bytes of a slice.</param>
    internal static long SlotsIn(long length, long row, long slice) => (length / row * (row / slice)) + (length % row / slice);

    internal void Encode(ByteWriter to)
    {
        to.Guid(Id);
        to.Text(FriendlyName);
        to.Text(Description);
        to.U16(MediaTypeCode);
        to.Text(ResiliencySettingName);
        to.U16(NumberOfColumns);
        to.U16(NumberOfDataCopies);
        to.U16(PhysicalDiskRedundancy);
        to.U32(Interleave);
        to.U8(FaultDomainByte.Of(FaultDomainAwareness, ColumnIsolation));
        to.I64(SizeBytes);
        to.I64(SpaceBytes);
        to.U32(DataSpace.Value);
        to.U32(LogSpace.Value);
    }

    internal static TierDescription Decode(ref ByteReader from, int number) => new TierDescription
    {
        Number = number,
        Id = from.Guid(),
        FriendlyName = from.Text(),
        Description = from.Text(),
        MediaTypeCode = from.U16(),
        ResiliencySettingName = from.Text(),
        NumberOfColumns = from.U16(),
        NumberOfDataCopies = from.U16(),
        PhysicalDiskRedundancy = from.U16(),
        Interleave = from.U32(),
        FaultDomainAwareness = (FaultDomainLevel)from.U8(),   // both levels, until Split
        SizeBytes = from.I64(),
        SpaceBytes = from.I64(),
        DataSpace = new SpaceId(from.U32()),
        LogSpace = new SpaceId(from.U32()),
    }.Split();

    private TierDescription Split()
    {
        byte both = (byte)FaultDomainAwareness;
        return this with { FaultDomainAwareness = FaultDomainByte.Awareness(both), ColumnIsolation = FaultDomainByte.Isolation(both) };
    }
}
