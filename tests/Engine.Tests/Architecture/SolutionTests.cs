using System.Xml.Linq;

namespace TierSpaces.Engine.Tests.Architecture;

/// <summary>Every project is in the solution, so that each is built.</summary>
public sealed class SolutionTests
{
    [Fact]
    public void Every_project_stands_in_the_solution()
    {
        string root = SourceTree.Root();
        IEnumerable<string> projects = new[] { "src", "tests", "bench" }
            .Select(folder => Path.Combine(root, folder))
            .Where(Directory.Exists)
            .SelectMany(folder => Directory.EnumerateFiles(folder, "*.csproj", SearchOption.AllDirectories))
            .Select(file => Path.GetRelativePath(root, file));

        IEnumerable<string> listed = XDocument.Load(Path.Combine(root, "TierSpaces.slnx"))
            .Descendants("Project")
            .Select(project => (string)project.Attribute("Path")!);

        Assert.Equal(projects.Order(), listed.Order());
    }
}
