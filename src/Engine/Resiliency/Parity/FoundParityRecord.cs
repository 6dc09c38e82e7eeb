using System.Numerics;
using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Resiliency;

/// <summary>A record that was found in a parity journal.</summary>
internal sealed class FoundParityRecord(ParityRecordHead head)
{
    internal ParityRecordHead Head { get; } = head;

    /// <summary>Bytes of the strips that it writes, in their order.</summary>
    internal List<byte> Data { get; } = [];

    /// <summary>Whether all of its bytes were found.</summary>
    internal bool IsWhole => Data.Count == (long)BitOperations.PopCount(Head.Written) * Head.Length;
}
