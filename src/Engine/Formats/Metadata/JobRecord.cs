namespace TierSpaces.Engine.Formats;

/// <summary>State of a long operation, so that it resumes after a restart.</summary>
/// <param name="Job">Identity of the job.</param>
/// <param name="State">Progress from which the job resumes, at most 2 KiB; empty when it has ended.</param>
public sealed record JobRecord(Guid Job, byte[] State) : MetadataRecord
{
    /// <summary>Largest state, in bytes.</summary>
    public const int MaxStateBytes = 2048;

    internal override RecordKind Kind => RecordKind.Job;

    internal override void EncodeBody(ByteWriter to)
    {
        to.Guid(Job);
        to.Blob(State);
    }

    internal static MetadataRecord Decode(ref ByteReader from) => new JobRecord(from.Guid(), from.Blob());
}
