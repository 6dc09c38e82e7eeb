using System.Reflection;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>
/// The type names of an object in the shell. They are those of a CIM instance, so that the formats, <c>[PSTypeName]</c> checks and
/// filters of existing scripts match: class and base classes with their namespace, then without.
/// </summary>
internal static class TypeNames
{
    private const string CimInstance = "Microsoft.Management.Infrastructure.CimInstance#";
    private const string Namespace = "ROOT/Microsoft/Windows/Storage/";

    /// <summary>The name that parameters check: the class without its namespace.</summary>
    internal static string Short(string windowsClass) => CimInstance + windowsClass;

    /// <summary>
    /// The name that a cmdlet declares to return. A name with its namespace makes PowerShell look for the class in the CIM repository as soon as
    /// properties are to be completed, which fails where there is none; their names are taken from the record, declared beside it.
    /// </summary>
    internal static string Declared(Type info)
    {
        string name = ClassOf(info);
        return name.StartsWith("MSFT_", StringComparison.Ordinal) ? Short(name) : Of(info)[0];
    }

    /// <summary>Names of the objects that a record describes, the most specific first.</summary>
    internal static string[] Of(Type info)
    {
        string name = ClassOf(info);
        return name.StartsWith("MSFT_", StringComparison.Ordinal) ? OfClass(name) : ["TierSpaces." + name.Split('_')[^1]];
    }

    /// <summary>Names of the objects of a Windows class, the most specific first.</summary>
    internal static string[] OfClass(string name)
    {
        string[] chain = [name, .. BaseClasses(name)];
        return [.. chain.Select(one => CimInstance + Namespace + one), .. chain.Select(Short)];
    }

    private static string ClassOf(Type info) => info.GetCustomAttribute<WindowsClassAttribute>()?.Name ?? info.Name;

    private static string[] BaseClasses(string windowsClass) => windowsClass switch
    {
        "MSFT_PhysicalDisk" or "MSFT_StorageEnclosure" or "MSFT_StorageScaleUnit" or "MSFT_StorageChassis" or "MSFT_StorageRack"
            => ["MSFT_StorageFaultDomain", "MSFT_StorageObject"],
        "MSFT_PhysicalExtent" => [],
        _ => ["MSFT_StorageObject"],
    };
}
