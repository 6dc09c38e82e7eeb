namespace TierSpaces.Engine.Primitives;

/// <summary>Identity of a pool.</summary>
public readonly record struct PoolId(Guid Value)
{
    /// <summary>No pool.</summary>
    public static PoolId None => default;

    /// <inheritdoc/>
    public override string ToString() => Value.ToString("D");
}

/// <summary>Identity of a disk, given when it joins a pool and written in its label; never a path.</summary>
public readonly record struct DiskId(Guid Value)
{
    /// <inheritdoc/>
    public override string ToString() => Value.ToString("D");
}

/// <summary>Identity of a virtual disk.</summary>
public readonly record struct VirtualDiskId(Guid Value) : IComparable<VirtualDiskId>
{
    /// <inheritdoc/>
    public int CompareTo(VirtualDiskId other) => Value.CompareTo(other.Value);

    /// <inheritdoc/>
    public override string ToString() => Value.ToString("D");
}

/// <summary>A disk's number in its pool: 1 to 65535, never reused; 0 is no disk.</summary>
public readonly record struct DiskNumber(ushort Value) : IComparable<DiskNumber>
{
    /// <summary>No disk.</summary>
    public static DiskNumber None => default;

    /// <inheritdoc/>
    public int CompareTo(DiskNumber other) => Value.CompareTo(other.Value);

    /// <inheritdoc/>
    public override string ToString() => Value.ToString(System.Globalization.CultureInfo.InvariantCulture);
}

/// <summary>A space's number in its pool: 1 and up, never reused; 0 is no space.</summary>
public readonly record struct SpaceId(uint Value) : IComparable<SpaceId>
{
    /// <summary>No space.</summary>
    public static SpaceId None => default;

    /// <inheritdoc/>
    public int CompareTo(SpaceId other) => Value.CompareTo(other.Value);

    /// <inheritdoc/>
    public override string ToString() => Value.ToString(System.Globalization.CultureInfo.InvariantCulture);
}

/// <summary>One slab of one disk.</summary>
/// <param name="Disk">The disk; <see cref="DiskNumber.None"/> for no slab.</param>
/// <param name="Slab">Index of the slab on that disk.</param>
public readonly record struct SlabRef(DiskNumber Disk, uint Slab)
{
    /// <summary>No slab.</summary>
    public static SlabRef None => default;

    /// <summary>Whether this names no slab.</summary>
    public bool IsNone => Disk.Value == 0;

    /// <inheritdoc/>
    public override string ToString() => IsNone ? "none" : $"{Disk}:{Slab}";
}
