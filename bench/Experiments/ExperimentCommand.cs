using TierSpaces.Bench.Nbd;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>Runs an experiment on the built host and writes its page and picture.</summary>
internal static class ExperimentCommand
{
    internal static void Run(string[] given)
    {
        Arguments arguments = new(given);
        Experiment experiment = Experiment.Find(arguments.Text("name", ""));
        ExperimentSettings settings = ExperimentSettings.From(arguments);
        string root = Repository.Root();
        string memory = arguments.Text("memory", "/dev/shm");
        string output = arguments.Text("output", Path.Combine(root, "docs", "experiments"));
        arguments.ThrowIfUnused();

        MachineFacts machine = MachineFacts.Now();
        ExperimentRun run = new(settings);
        using BackingFolder folder = new(memory);
        using HostOnDemand host = new(Path.Combine(root, "bin", "host", "tierspaces"));
        ExperimentResult result = experiment.Run(host, folder, settings, run);
        Write(output, new ExperimentDocument(experiment, result, $"./build.sh Experiment {string.Join(' ', given)}", machine, host.Facts, run.OthersCpu)
        {
            Niceness = LibC.Niceness(),
        });
    }

    private static void Write(string folder, ExperimentDocument document)
    {
        Directory.CreateDirectory(folder);
        string path = Path.Combine(folder, document.Experiment.Name);
        File.WriteAllText($"{path}.md", document.Page());
        File.WriteAllText($"{path}.svg", document.Picture());
        Console.WriteLine($"written: {path}.md and {path}.svg");
    }
}
