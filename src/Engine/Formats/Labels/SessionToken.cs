namespace TierSpaces.Engine.Formats;

/// <summary>One opening of a pool. The random token tells it from an opening with the same number in another copy of the pool.</summary>
/// <param name="Session">Number of the session; 0 for none.</param>
/// <param name="Token">Random number of the session (<see cref="SessionOpened.FencingToken"/>).</param>
public readonly record struct SessionToken(ulong Session, ulong Token)
{
    internal void Encode(ByteWriter to)
    {
        to.U64(Session);
        to.U64(Token);
    }

    internal static SessionToken Decode(ref ByteReader from) => new(from.U64(), from.U64());
}
