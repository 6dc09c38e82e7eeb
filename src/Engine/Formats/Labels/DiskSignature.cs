namespace TierSpaces.Engine.Formats;

/// <summary>Kind of software that left a signature on a disk.</summary>
public enum SignatureKind
{
    /// <summary>A partition table, a file system, swap space or an encrypted volume: it takes the capacity of the disk.</summary>
    Data,

    /// <summary>Metadata of another storage system: the disk is a member of a RAID, of a volume group or of a pool of other software.</summary>
    Member,
}

/// <summary>A signature of other software on a disk.</summary>
/// <param name="Offset">Place of its first byte on the disk.</param>
/// <param name="Length">Its bytes, 1 or more. The disk is blank to other software once they are zeros.</param>
/// <param name="Name">For people: the content that it announces, for example "an XFS file system".</param>
/// <param name="Kind">Kind of software.</param>
public sealed record DiskSignature(long Offset, int Length, string Name, SignatureKind Kind);
