using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes;

/// <summary>Memory of a request in several stretches, as the kernel's vectors describe it.</summary>
internal static unsafe class MemoryVectors
{
    /// <summary>Most vectors of a request; the kernel takes 1024.</summary>
    internal const int Max = 256;

    /// <summary>Bytes of the vectors of a request.</summary>
    internal static int BytesOf(int vectors) => vectors * sizeof(IoVector);

    /// <summary>Describes the strips of a buffer from a byte on. Returns how many vectors that took.</summary>
    /// <param name="vectors">Place for a vector for each strip.</param>
    /// <param name="buffer">The buffer.</param>
    /// <param name="from">First byte that is described.</param>
    internal static int Describe(IoVector* vectors, IoBuffer buffer, int from = 0)
    {
        int strip = buffer.Strip(0).Length;
        int count = 0;
        for (int at = from; at < buffer.Length; count++)
        {
            IoBuffer part = buffer.Slice(at, strip - (at % strip));
            vectors[count] = new IoVector { Base = part.Pointer, Length = (nuint)part.Length };
            at += part.Length;
        }

        return count;
    }

    /// <summary>The operation on what is left behind so many bytes. Changes the vectors.</summary>
    internal static FileOperation Rest(in FileOperation operation, int done)
    {
        IoVector* first = (IoVector*)operation.Buffer;
        ushort count = operation.Vectors;
        nuint left = (nuint)done;
        for (; left >= first->Length; first++, count--)
        {
            left -= first->Length;
        }

        first->Base += left;
        first->Length -= left;
        return operation with { Buffer = (nint)first, Vectors = count, Offset = operation.Offset + done, Length = operation.Length - done };
    }
}
