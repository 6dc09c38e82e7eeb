using TierSpaces.Contracts;
using TierSpaces.Engine.Primitives;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Enumerations that contract and engine both have.</summary>
public sealed class EnumerationMappingTests
{
    [Fact]
    public void Media_are_mapped_one_for_one()
    {
        Assert.Equal(Enum.GetValues<MediaType>().Order(), Enum.GetValues<Engine.Devices.MediaType>().Select(MediaMapping.ToContract).Order());
        Assert.All(Enum.GetValues<MediaType>(), media => Assert.Equal(media, media.ToEngine().ToContract()));
        Assert.Equal(MediaType.Unspecified, ((Engine.Devices.MediaType)77).ToContract());
    }

    [Fact]
    public void Buses_are_mapped_one_for_one()
    {
        Assert.Equal(Enum.GetValues<BusType>().Order(), Enum.GetValues<Engine.Devices.BusType>().Select(MediaMapping.ToContract).Order());
        Assert.All(Enum.GetValues<BusType>(), bus => Assert.Equal(bus, bus.ToEngine().ToContract()));
        Assert.Equal(BusType.Unknown, ((Engine.Devices.BusType)77).ToContract());
    }

    [Fact]
    public void Enumerations_of_one_name_have_the_same_numbers()
    {
        Dictionary<string, Type> engine = typeof(IoError).Assembly.GetExportedTypes().Where(type => type.IsEnum).ToDictionary(type => type.Name);
        Type[] pairs = typeof(MediaType).Assembly.GetExportedTypes().Where(type => type.IsEnum && engine.ContainsKey(type.Name)).ToArray();

        Assert.True(pairs.Length > 4);
        Assert.All(pairs, contract => Assert.All(
            Enum.GetNames(engine[contract.Name]).Intersect(Enum.GetNames(contract)),
            name => Assert.Equal(Number(contract, name), Number(engine[contract.Name], name))));
    }

    private static long Number(Type type, string name) =>
        Convert.ToInt64(Enum.Parse(type, name), System.Globalization.CultureInfo.InvariantCulture);
}
