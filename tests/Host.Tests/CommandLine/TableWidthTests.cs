using System.Collections;
using System.Reflection;
using System.Text.Json;
using TierSpaces.Contracts;
using TierSpaces.Host.CommandLine;

namespace TierSpaces.Host.Tests.CommandLine;

/// <summary>Tables in terminals: every kind of object, with short and with long values.</summary>
public sealed class TableWidthTests
{
    private const int Width = 80;

    public static TheoryData<string> Types => [.. VerbDescription.All.Select(static verb => verb.OutputType.Name).Distinct()];

    [Theory]
    [MemberData(nameof(Types))]
    public void No_line_is_wider_than_the_terminal(string name)
    {
        Type type = VerbDescription.All.First(verb => verb.OutputType.Name == name).OutputType;
        foreach ((string text, int objects) in ((string, int)[])[("Pool1", 12), ("A friendly name that has forty characters", 12), ("", 1)])
        {
            string table = Print(type, text, objects, Width);
            Assert.All(table.Split(Environment.NewLine), line => Assert.True(line.Length <= Width, $"{line.Length}: {line}"));
        }
    }

    [Theory]
    [MemberData(nameof(Types))]
    public void Nothing_is_cut_where_the_output_is_no_terminal(string name)
    {
        Type type = VerbDescription.All.First(verb => verb.OutputType.Name == name).OutputType;
        Assert.DoesNotContain("…", Print(type, "A friendly name that has forty characters", 3, int.MaxValue), StringComparison.Ordinal);
    }

    [Fact]
    public void Headings_break_at_words_before_values_are_cut()
    {
        StringWriter output = new();
        object[] disks = [new VirtualDiskInfo
        {
            FriendlyName = "Data1", ResiliencySettingName = "Mirror", PhysicalDiskRedundancy = 1, OperationalStatus = ["OK"], HealthStatus = "Healthy",
            Size = 3UL << 40, AllocatedSize = 3UL << 40, FootprintOnPool = 6UL << 40,
        }];
        TableText.Print(typeof(VirtualDiskInfo), JsonSerializer.SerializeToElement(disks), output, Width);
        Assert.Equal(
            """
                     Resiliency      Fault
            Friendly Setting        Domain Operational Health       Footprint    Storage
            Name     Name       Redundancy Status      Status  Size    OnPool Efficiency
            -------- ---------- ---------- ----------- ------  ---- --------- ----------
            Data1    Mirror              1 OK          Healthy 3 TB      6 TB     50.00%


            """,
            output.ToString());
    }

    [Fact]
    public void A_later_page_is_no_wider_either()
    {
        StringWriter output = new();
        TableText table = new(typeof(PhysicalDiskInfo), output, Width);
        foreach (string text in (string[])["a", "A friendly name that has forty characters"])
        {
            table.Print(Objects(typeof(PhysicalDiskInfo), text, 2));
        }

        Assert.All(output.ToString().Split(Environment.NewLine), static line => Assert.True(line.Length <= Width, line));
    }

    private static string Print(Type type, string text, int objects, int width)
    {
        StringWriter output = new();
        TableText.Print(type, Objects(type, text, objects), output, width);
        return output.ToString();
    }

    // Sizes of TB, counts of five digits, and the text in every property that takes one.
    private static JsonElement Objects(Type type, string text, int count) =>
        JsonSerializer.SerializeToElement(Enumerable.Range(0, count).Select(_ => type.GetProperties(BindingFlags.Public | BindingFlags.Instance)
            .ToDictionary(static property => property.Name, property => Value(property, text))).ToArray());

    private static object? Value(PropertyInfo property, string text)
    {
        Type type = Nullable.GetUnderlyingType(property.PropertyType) ?? property.PropertyType;
        return type == typeof(bool) ? true
            : type == typeof(string) || type.IsEnum ? text
            : type == typeof(DateTime) ? new DateTime(2026, 11, 28, 8, 0, 0, DateTimeKind.Utc)
            : type == typeof(ulong) || type == typeof(long) ? 7_654_321_987_654L
            : type == typeof(double) ? 12.5
            : type.IsPrimitive ? 42
            : typeof(IEnumerable).IsAssignableFrom(type) ? new[] { text }
            : text;
    }
}
