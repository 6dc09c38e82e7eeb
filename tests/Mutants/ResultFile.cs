using System.Globalization;

namespace TierSpaces.Mutants;

/// <summary>Complaints, kept in a file (name, seeds, how; a line each) so that a run that was ended goes on where it was.</summary>
public sealed class ResultFile
{
    private readonly string _path;
    private readonly Dictionary<string, MutantResult> _known = [];

    /// <summary>Reads what is there; an empty path keeps nothing.</summary>
    public ResultFile(string path, IReadOnlyList<Mutant> mutants)
    {
        _path = path;
        foreach (string line in File.Exists(path) ? File.ReadAllLines(path) : [])
        {
            string[] parts = line.Split('\t');
            if (mutants.FirstOrDefault(mutant => mutant.Name == parts[0]) is { } mutant)
            {
                _known[mutant.Name] = new MutantResult(mutant, int.Parse(parts[1], CultureInfo.InvariantCulture), parts[2]);
            }
        }
    }

    /// <summary>Whether something noticed this mutant.</summary>
    public bool IsKnown(Mutant mutant) => _known.ContainsKey(mutant.Name);

    /// <summary>Its result, or null.</summary>
    public MutantResult? Of(Mutant mutant) => _known.GetValueOrDefault(mutant.Name);

    /// <summary>Takes a result of an earlier run for a mutant that has none.</summary>
    public void Keep(MutantResult earlier) => _known.TryAdd(earlier.Mutant.Name, earlier);

    /// <summary>Enters a result; one of nothing noticed is not kept.</summary>
    public void Add(MutantResult result)
    {
        if (!result.IsNoticed)
        {
            return;
        }

        lock (_known)
        {
            _known[result.Mutant.Name] = result;
            if (_path.Length > 0)
            {
                File.AppendAllText(_path, $"{result.Mutant.Name}\t{result.Seeds}\t{result.How.Replace('\t', ' ')}\n");
            }
        }
    }
}
