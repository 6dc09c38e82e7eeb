using System.Numerics;
using System.Runtime.InteropServices;
using System.Security.Cryptography;

namespace TierSpaces.Engine.Lanes;

/// <summary>
/// A lane's randomness: xoshiro256** seeded by the system for choices, the system itself for identifiers, which must not
/// collide between machines.
/// </summary>
internal struct LaneRandom
{
    private ulong _a, _b, _c, _d;

    internal static LaneRandom Create()
    {
        Span<ulong> seed = stackalloc ulong[4];
        RandomNumberGenerator.Fill(MemoryMarshal.AsBytes(seed));
        return new LaneRandom { _a = seed[0] | 1, _b = seed[1], _c = seed[2], _d = seed[3] };
    }

    internal static Guid NewGuid()
    {
        Span<byte> bytes = stackalloc byte[16];
        RandomNumberGenerator.Fill(bytes);
        bytes[7] = (byte)((bytes[7] & 0x0f) | 0x40);   // version 4
        bytes[8] = (byte)((bytes[8] & 0x3f) | 0x80);   // variant 1
        return new Guid(bytes);
    }

    internal ulong Next()
    {
        ulong result = BitOperations.RotateLeft(_b * 5, 7) * 9;
        ulong shifted = _b << 17;
        _c ^= _a;
        _d ^= _b;
        _b ^= _c;
        _a ^= _d;
        _c ^= shifted;
        _d = BitOperations.RotateLeft(_d, 45);
        return result;
    }
}
