using Mono.Cecil;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Architecture;

/// <summary>Reads the compiled engine: what the table of layers forbids must not be in it.</summary>
public sealed class LayeringTests
{
    [Fact]
    public void Every_type_uses_only_the_layers_below_it()
    {
        string[] violations = [.. Violations(typeof(IoError).Assembly.Location, LayerTable.Engine)];

        Assert.True(violations.Length == 0, string.Join(Environment.NewLine, violations));
    }

    [Fact]
    public void The_engine_references_the_base_class_library_alone()
    {
        using AssemblyDefinition engine = AssemblyDefinition.ReadAssembly(typeof(IoError).Assembly.Location);

        Assert.All(
            engine.MainModule.AssemblyReferences,
            reference => Assert.True(
                reference.Name is "System" or "netstandard" || reference.Name.StartsWith("System.", StringComparison.Ordinal),
                $"The engine references {reference.Name}."));
    }

    [Fact]
    public void A_use_of_a_higher_layer_is_found_wherever_it_stands()
    {
        LayerTable table = new(typeof(Fixture.Low.Signature).Namespace![..^".Low".Length], new Dictionary<string, string[]>
        {
            ["Low"] = [],
            ["High"] = ["Low"],
        });

        string[] found = [.. Violations(typeof(LayeringTests).Assembly.Location, table)];

        Assert.Equal(["Body", "Field", "GenericArgument", "Signature"], found.Select(v => v.Split(' ')[0].Split('.')[^1]).Order());
    }

    private static IEnumerable<string> Violations(string assembly, LayerTable table)
    {
        using AssemblyDefinition definition = AssemblyDefinition.ReadAssembly(assembly);
        foreach (TypeDefinition type in definition.MainModule.Types)
        {
            if (table.LayerOf(type.Namespace) is { } layer)
            {
                foreach (string violation in Violations(type, layer, table))
                {
                    yield return violation;
                }
            }
        }
    }

    private static IEnumerable<string> Violations(TypeDefinition type, string layer, LayerTable table)
    {
        if (layer.Length == 0)
        {
            return [$"{type.FullName} is in no layer of the table."];
        }

        return TypeUses.Of(type)
            .Where(used => table.LayerOf(used.Namespace) is { Length: > 0 } other && !table.Allows(layer, other))
            .Select(used => $"{type.FullName} uses {used.FullName}: {layer} may not use {table.LayerOf(used.Namespace)}.")
            .Distinct();
    }
}
