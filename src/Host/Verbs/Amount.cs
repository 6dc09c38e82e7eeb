using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs;

/// <summary>Numbers of requests as the engine takes them; what does not fit is refused, never cut.</summary>
internal static class Amount
{
    /// <summary>A size in bytes, below 2^63.</summary>
    public static long Bytes(ulong value, string parameter, StorageErrorKind? kind = null) =>
        value <= long.MaxValue ? (long)value : throw TooLarge(kind ?? StorageErrors.SizeNotSupported, parameter, value, long.MaxValue);

    /// <summary>A sector size: 512, 4096, or null.</summary>
    public static int? Sector(ulong? value, string parameter) => value switch
    {
        null => null,
        512 or 4096 => (int)value,
        _ => throw new StorageException(
            StorageErrors.SectorSizeNotSupported, $"-{parameter} {value}: is no sector size. Valid: 512 and 4096.", "Give one of them.", parameter),
    };

    private static StorageException TooLarge(StorageErrorKind kind, string parameter, ulong value, long max) =>
        new(kind, $"-{parameter} {SizeText.Exact(value)}: is too large. Valid: 0 to {SizeText.Exact(max)}.", "Give a smaller value.", parameter);
}
