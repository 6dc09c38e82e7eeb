using TierSpaces.Golden;

// TierSpaces.Golden FOLDER [NAME…]: writes pools with the present engine into a folder, all of them or those that are named.
// A file that exists is never written again: a golden pool is of the version that wrote it.
if (args.Length == 0)
{
    Console.Error.WriteLine("TierSpaces.Golden FOLDER [NAME…]; names: " + string.Join(", ", GoldenScenarios.All.Keys));
    return 2;
}

Directory.CreateDirectory(args[0]);
foreach ((string name, Action<GoldenWorld> make) in GoldenScenarios.All.Where(scenario => args.Length == 1 || args.Contains(scenario.Key)))
{
    string path = Path.Combine(args[0], name + GoldenScenarios.Extension);
    if (File.Exists(path))
    {
        Console.WriteLine($"{path} exists and stays as it is.");
        continue;
    }

    GoldenWorld world = new();
    make(world);
    GoldenPack pack = world.Pack();
    GoldenCheck opened = new(world.Pack());
    pack.Opened = opened.Open();
    string[] wrong = [.. opened.WrongBytes()];   // also because the test reads everything here, which counts as heat
    pack.Settled = opened.Settle();
    if (wrong.Concat(opened.WrongBytes()).FirstOrDefault() is { } first)
    {
        Console.Error.WriteLine($"{path}: not written, {first} is wrong.");
        return 1;
    }

    pack.Write(path);
    Console.WriteLine($"{path}: {new FileInfo(path).Length} bytes");
}

return 0;
