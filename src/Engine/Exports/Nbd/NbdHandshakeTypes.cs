namespace TierSpaces.Engine.Exports.Nbd;

// Numbers of the option phase, as the NBD protocol document assigns them.

internal static class NbdMagic
{
    internal const ulong Greeting = 0x4e42444d41474943;        // "NBDMAGIC"
    internal const ulong Option = 0x49484156454F5054;          // "IHAVEOPT"
    internal const ulong OptionReply = 0x0003e889045565a9;
    internal const uint Request = 0x25609513;
    internal const uint SimpleReply = 0x67446698;
    internal const uint StructuredReply = 0x668e33ef;
}

[Flags]
internal enum NbdHandshakeFlags : uint
{
    None = 0,
    FixedNewstyle = 1,
    NoZeroes = 2,
}

internal enum NbdOption : uint
{
    ExportName = 1,
    Abort = 2,
    List = 3,
    StartTls = 5,
    Info = 6,
    Go = 7,
    StructuredReply = 8,
    ListMetaContext = 9,
    SetMetaContext = 10,
}

internal enum NbdOptionReply : uint
{
    Ack = 1,
    Server = 2,
    Info = 3,
    MetaContext = 4,
    Unsupported = 0x8000_0001,
    Policy = 0x8000_0002,
    Invalid = 0x8000_0003,
    Unknown = 0x8000_0006,
    TooBig = 0x8000_0009,
}

internal enum NbdInfo : ushort
{
    Export = 0,
    Name = 1,
    Description = 2,
    BlockSize = 3,
}

[Flags]
internal enum NbdTransmissionFlags : ushort
{
    HasFlags = 1 << 0,
    ReadOnly = 1 << 1,
    SendFlush = 1 << 2,
    SendFua = 1 << 3,
    SendTrim = 1 << 5,
    SendWriteZeroes = 1 << 6,
    SendDf = 1 << 7,
    CanMultiConn = 1 << 8,
    SendCache = 1 << 10,
}
