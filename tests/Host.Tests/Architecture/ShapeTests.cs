using Mono.Cecil;
using TierSpaces.Engine.Tests.Architecture;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Tests.Architecture;

/// <summary>The state of a type of the host is its own, without exceptions.</summary>
public sealed class ShapeTests
{
    private static readonly TypeDefinition[] s_types = AssemblyShape.TypesOf(typeof(HostServices).Assembly);

    [Fact]
    public void No_type_reads_or_writes_a_mutable_field_of_another() => Assert.Empty(AssemblyShape.ForeignFields(s_types));

    [Fact]
    public void No_type_sets_a_property_of_another() => Assert.Empty(AssemblyShape.ForeignSetters(s_types));

    [Fact]
    public void No_class_is_made_of_more_than_ten_parts() => Assert.Empty(AssemblyShape.MadeOfMoreThan(10, s_types));
}
