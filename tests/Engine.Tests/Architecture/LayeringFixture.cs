// Two tiny layers with every kind of forbidden use: they prove that the layering test can fail.

namespace TierSpaces.Engine.Tests.Architecture.Fixture.High
{
    internal sealed class Thing
    {
        internal static int Count => 1;
    }
}

namespace TierSpaces.Engine.Tests.Architecture.Fixture.Low
{
    internal abstract class Signature
    {
        internal abstract High.Thing Make();
    }

    internal sealed class Field
    {
        internal High.Thing[] Things { get; } = [];
    }

    internal sealed class GenericArgument
    {
        internal List<High.Thing>? Things { get; set; }
    }

    internal static class Body
    {
        internal static int Count() => High.Thing.Count;
    }
}
