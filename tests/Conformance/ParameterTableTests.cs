using TierSpaces.Contracts;

namespace TierSpaces.Conformance;

/// <summary>The table of parameters against the built assembly, and against what the request records declare.</summary>
public sealed class ParameterTableTests
{
    public static TheoryData<string> Cmdlets => [.. CompiledCmdlets.All.Keys.Order()];

    [Theory]
    [MemberData(nameof(Cmdlets))]
    public void Every_parameter_has_a_row_and_every_row_a_parameter(string name)
    {
        IEnumerable<string> listed = ParameterTable.Rows
            .Where(row => row.Cmdlet == name || row.Cmdlet == ParameterTable.EveryCmdlet).Select(row => row.Parameter).Distinct();

        Assert.Equal(CompiledCmdlets.All[name].Parameters.Select(p => p.Name).Order(), listed.Order());
    }

    [Fact]
    public void No_row_is_there_twice()
    {
        Assert.Equal(
            ParameterTable.Rows.Count, ParameterTable.Rows.DistinctBy(row => (row.Cmdlet, row.Parameter, row.State, row.Value)).Count());
        Assert.All(
            ParameterTable.Rows.GroupBy(row => (row.Cmdlet, row.Parameter)).Where(rows => rows.Count() > 1),
            rows => Assert.All(rows, row => Assert.True(row.State == ParameterState.Works || row.IsForOneValue, row.ToString())));
    }

    [Theory]
    [MemberData(nameof(Cmdlets))]
    public void The_table_says_what_the_request_record_says(string name)
    {
        foreach (ParameterDescription parameter in VerbDescription.Find(name)!.Parameters)
        {
            ParameterRow row = ParameterTable.Rows.First(row => row.Cmdlet == name && row.Parameter == parameter.Name);
            VerbParameterAttribute declared = parameter.Attribute;

            Assert.Equal(
                declared.Refused.Length > 0 ? ParameterState.Refused : declared.WithoutEffect.Length > 0 ? ParameterState.WithoutEffect : ParameterState.Works,
                row.State);
            Assert.Equal(declared.Refused + declared.WithoutEffect, row.Reason);
            Assert.Equal(row.State == ParameterState.Refused ? Accepted(parameter) : null, row.Accepted);
        }
    }

    private static string? Accepted(ParameterDescription parameter) =>
        parameter.Attribute.Default.Length > 0
            ? (parameter.AcceptedValues.Length == 0 || parameter.AcceptedValues.Contains(parameter.Attribute.Default) ? parameter.Attribute.Default : null)
        : parameter.Property.PropertyType == typeof(bool?) ? "False"
        : null;
}
