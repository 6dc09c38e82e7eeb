using System.Text.RegularExpressions;

namespace TierSpaces.Engine.Tests.Architecture;

/// <summary>The C library is bound in one place for all of the product.</summary>
public sealed partial class SystemCallTests
{
    [Fact]
    public void Every_function_of_the_C_library_is_bound_once()
    {
        IEnumerable<(string Function, string File)> bindings = SourceTree.ProductFiles()
            .SelectMany(static file => Binding().Matches(File.ReadAllText(file)).Select(match => (match.Groups["function"].Value, file)));

        string[] twice = [.. bindings.GroupBy(static one => one.Function).Where(static same => same.Count() > 1)
            .Select(static same => $"{same.Key}: {string.Join(", ", same.Select(static one => one.File))}")];

        Assert.NotEmpty(bindings);
        Assert.True(twice.Length == 0, string.Join(Environment.NewLine, twice));
    }

    [Fact]
    public void Only_lanes_and_the_host_bind_system_calls()
    {
        string[] folders = [Path.Combine("src", "Engine", "Lanes", "Native"), Path.Combine("src", "Host", "Native")];

        Assert.Empty(SourceTree.ProductFiles()
            .Where(static file => Binding().IsMatch(File.ReadAllText(file)))
            .Select(static file => Path.GetDirectoryName(Path.GetRelativePath(SourceTree.Root(), file)))
            .Except(folders));
    }

    [GeneratedRegex(@"\[(DllImport|LibraryImport)\([^)]*EntryPoint = ""(?<function>\w+)""")]
    private static partial Regex Binding();
}
