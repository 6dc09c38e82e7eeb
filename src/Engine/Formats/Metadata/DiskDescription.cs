using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>A member disk as its pool remembers it, present or not. Sizes are bytes.</summary>
public sealed record DiskDescription
{
    /// <summary>Number in the pool.</summary>
    public required DiskNumber Number { get; init; }

    /// <summary>Identity in the label.</summary>
    public required DiskId Id { get; init; }

    /// <summary>Name shown to users, 1 to 256 characters.</summary>
    public required string FriendlyName { get; init; }

    /// <summary>Size of the disk when it joined: its layout follows from it.</summary>
    public required long SizeBytes { get; init; }

    /// <summary>Slabs on it.</summary>
    public required uint SlabCount { get; init; }

    /// <summary>Kind of medium, as Windows numbers it.</summary>
    public ushort MediaTypeCode { get; init; }

    /// <summary>Kind of connection, as Windows numbers it.</summary>
    public ushort BusTypeCode { get; init; }

    /// <summary>Logical sector: 512 or 4096.</summary>
    public ushort LogicalSectorSize { get; init; } = 512;

    /// <summary>Physical sector: 512 or 4096.</summary>
    public ushort PhysicalSectorSize { get; init; } = 512;

    /// <summary>Revolutions per minute; 0 for none, 4294967295 for unknown.</summary>
    public uint SpindleSpeed { get; init; }

    /// <summary>Purposes for which the pool may use the disk.</summary>
    public DiskUsage Usage { get; init; } = DiskUsage.AutoSelect;

    /// <summary>Fault-domain path from the widest to the narrowest: <c>site/rack/chassis/node/enclosure</c>, parts may be empty.</summary>
    public string FaultDomainPath { get; init; } = "";

    /// <summary>Enclosure the user has named, or -1.</summary>
    public int EnclosureNumber { get; init; } = -1;

    /// <summary>Slot the user has named, or -1.</summary>
    public int SlotNumber { get; init; } = -1;

    /// <summary>Serial number, or empty.</summary>
    public string SerialNumber { get; init; } = "";

    /// <summary>Model, or empty.</summary>
    public string Model { get; init; } = "";

    /// <summary>Manufacturer, or empty.</summary>
    public string Manufacturer { get; init; } = "";

    /// <summary>Firmware, or empty.</summary>
    public string FirmwareVersion { get; init; } = "";

    /// <summary>Text of the user, or empty.</summary>
    public string Description { get; init; } = "";

    internal void Encode(ByteWriter to)
    {
        to.U16(Number.Value);
        to.Guid(Id.Value);
        to.Text(FriendlyName);
        to.I64(SizeBytes);
        to.U32(SlabCount);
        to.U16(MediaTypeCode);
        to.U16(BusTypeCode);
        to.U16(LogicalSectorSize);
        to.U16(PhysicalSectorSize);
        to.U32(SpindleSpeed);
        to.U8((byte)Usage);
        to.Text(FaultDomainPath);
        to.U32((uint)EnclosureNumber);
        to.U32((uint)SlotNumber);
        to.Text(SerialNumber);
        to.Text(Model);
        to.Text(Manufacturer);
        to.Text(FirmwareVersion);
        to.Text(Description);
    }

    internal static DiskDescription Decode(ref ByteReader from) => new()
    {
        Number = new DiskNumber(from.U16()),
        Id = new DiskId(from.Guid()),
        FriendlyName = from.Text(),
        SizeBytes = from.I64(),
        SlabCount = from.U32(),
        MediaTypeCode = from.U16(),
        BusTypeCode = from.U16(),
        LogicalSectorSize = from.U16(),
        PhysicalSectorSize = from.U16(),
        SpindleSpeed = from.U32(),
        Usage = (DiskUsage)from.U8(),
        FaultDomainPath = from.Text(),
        EnclosureNumber = (int)from.U32(),
        SlotNumber = (int)from.U32(),
        SerialNumber = from.Text(),
        Model = from.Text(),
        Manufacturer = from.Text(),
        FirmwareVersion = from.Text(),
        Description = from.Text(),
    };
}
