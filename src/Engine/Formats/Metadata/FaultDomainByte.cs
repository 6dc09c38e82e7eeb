namespace TierSpaces.Engine.Formats;

/// <summary>
/// One byte on disk for two levels: the lower four bits are the level of the domains that hold the copies, the upper four the level of the domains that no two
/// columns share; 0 there is the level of the disk.
/// </summary>
internal static class FaultDomainByte
{
    private const int UpperShift = 4;
    private const int LowerMask = 15;

    /// <summary>Returns the byte of two levels.</summary>
    internal static byte Of(FaultDomainLevel awareness, FaultDomainLevel isolation) =>
        (byte)((int)awareness | (isolation == FaultDomainLevel.PhysicalDisk ? 0 : (int)isolation << UpperShift));

    /// <summary>Returns the level of the domains that hold the copies.</summary>
    internal static FaultDomainLevel Awareness(byte both) => (FaultDomainLevel)(both & LowerMask);

    /// <summary>Returns the level of the domains that no two columns share.</summary>
    internal static FaultDomainLevel Isolation(byte both) => both >> UpperShift == 0 ? FaultDomainLevel.PhysicalDisk : (FaultDomainLevel)(both >> UpperShift);
}
