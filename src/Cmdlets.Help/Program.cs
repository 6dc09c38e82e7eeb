using TierSpaces.Cmdlets.Help;

// maml PAGES FILE: writes the help file of the module from the pages and the request records. renew PAGES: renews the generated
// parts of the pages from the records.

switch (args)
{
    case ["maml", var pages, var file]:
        Directory.CreateDirectory(Path.GetDirectoryName(Path.GetFullPath(file))!);
        Maml.Of(new HelpFolder(pages).Cmdlets).Save(file);
        return 0;

    case ["renew", var pages]:
        new HelpFolder(pages).Renew();
        return 0;

    default:
        Console.Error.WriteLine("usage: TierSpaces.Cmdlets.Help maml PAGES FILE | renew PAGES");
        return 2;
}
