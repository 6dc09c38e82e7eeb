namespace TierSpaces.Engine.Lanes.Uring;

/// <summary>File operations as submission entries.</summary>
internal static class UringEntries
{
    /// <param name="operation">The operation.</param>
    /// <param name="bufferEntry">Entry of its buffer in the table of registered buffers; -1: none.</param>
    internal static SubmissionEntry ForFile(in FileOperation operation, int bufferEntry)
    {
        bool registered = operation.File.TableIndex >= 0;
        SubmissionEntry entry = new()
        {
            Descriptor = registered ? operation.File.TableIndex : operation.File.Descriptor,
            Flags = registered ? SubmissionEntry.FixedFile : (byte)0,
        };
        switch (operation.Opcode)
        {
            case FileOpcode.Read or FileOpcode.Write:
                if (operation.Vectors > 0)
                {
                    entry.Opcode = operation.Opcode == FileOpcode.Read ? RingOpcode.ReadVectors : RingOpcode.WriteVectors;
                    entry.Address = (ulong)operation.Buffer;
                    entry.Offset = operation.Offset;
                    entry.Length = operation.Vectors;
                    entry.OperationFlags = (uint)operation.Flags;
                    break;
                }

                entry.Opcode = (operation.Opcode, bufferEntry >= 0) switch
                {
                    (FileOpcode.Read, false) => RingOpcode.Read,
                    (FileOpcode.Read, true) => RingOpcode.ReadFixed,
                    (_, false) => RingOpcode.Write,
                    (_, true) => RingOpcode.WriteFixed,
                };
                entry.BufferIndex = (ushort)Math.Max(bufferEntry, 0);
                entry.Address = (ulong)operation.Buffer;
                entry.Offset = operation.Offset;
                entry.Length = (uint)operation.Length;
                entry.OperationFlags = (uint)operation.Flags;
                break;
            case FileOpcode.Sync:
                entry.Opcode = RingOpcode.Sync;
                entry.OperationFlags = SubmissionEntry.SyncDataOnly;
                break;
            case FileOpcode.Allocate:
                entry.Opcode = RingOpcode.Allocate;
                entry.Offset = operation.Offset;
                entry.Address = (ulong)operation.Length;
                entry.Length = (uint)operation.Flags;
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(operation), operation.Opcode, "No ring operation.");
        }

        return entry;
    }
}
