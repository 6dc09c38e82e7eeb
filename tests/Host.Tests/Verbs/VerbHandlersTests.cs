using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Tests.Verbs;

public class VerbHandlersTests
{
    [Fact]
    public async Task Every_verb_has_one_handler()
    {
        string root = Directory.CreateTempSubdirectory("ts").FullName;
        await using (HostServices services = await HostServices.StartAsync(
            new HostPaths(root), new ServeOptions(Detach: false, SupervisorKind.None), new HostSettings()))
        {
            IOrderedEnumerable<string> handled = VerbHandlers.Create(services).Select(handler => handler.Verb.Name).Order(StringComparer.Ordinal);
            Assert.Equal(VerbDescription.All.Select(verb => verb.Name), handled);
        }

        Directory.Delete(root, recursive: true);
    }

    [Fact]
    public void Every_refusal_of_the_engine_has_a_row_in_the_table_of_errors()
    {
        foreach (ManagementError problem in Enum.GetValues<ManagementError>())
        {
            Assert.Equal(problem.ToString(), EngineErrors.KindOf(problem).Word);
        }
    }

    [Fact]
    public void Words_of_the_table_are_unique_and_codes_too_but_for_ours()
    {
        Assert.Equal(StorageErrors.All.Count, StorageErrors.All.DistinctBy(kind => kind.Word).Count());
        StorageErrorKind[] windows = StorageErrors.All.Where(kind => kind.Code != StorageErrors.InvalidParameter.Code).ToArray();
        Assert.Equal(windows.Length, windows.DistinctBy(kind => kind.Code).Count());
    }
}
