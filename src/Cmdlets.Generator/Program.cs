using TierSpaces.Cmdlets.Generator;
using TierSpaces.Contracts;

// Writes one C# file per verb into the folder given: src/Cmdlets compiles them. The verbs and their parameters are the
// request records of src/Contracts, so that a verb is declared once for module, command line and HTTP. Beside them the assembly of the
// enumerations that objects show.

if (args is not [var folder])
{
    Console.Error.WriteLine("usage: TierSpaces.Cmdlets.Generator FOLDER");
    return 2;
}

Directory.CreateDirectory(folder);
HashSet<string> written = [];
foreach (VerbDescription verb in VerbDescription.All)
{
    string file = Path.Combine(folder, CmdletSource.ClassName(verb) + ".g.cs");
    File.WriteAllText(file, CmdletSource.Of(verb));
    written.Add(file);
}

foreach (string stale in Directory.EnumerateFiles(folder, "*.g.cs").Where(file => !written.Contains(file)))
{
    File.Delete(stale);
}

EnumerationAssembly.Write(Path.Combine(folder, EnumerationAssembly.Name + ".dll"), ObjectEnumerations.All.OrderBy(type => type.Name, StringComparer.Ordinal));
return 0;
