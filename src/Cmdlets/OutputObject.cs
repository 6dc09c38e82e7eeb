using System.Management.Automation;
using System.Reflection;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>
/// A record as the shell shows it: an object with the record's properties under the type names of its Windows class. It is a
/// property bag and not the record itself, because the binder then takes it for a PSObject[] parameter as it is: <c>Get-VirtualDisk |
/// Remove-VirtualDisk</c> names each disk by its identifier and not, as the next best match would, by a name that two may share.
/// </summary>
internal static class OutputObject
{
    // A status of one word is that word, as on Windows, and not a list of one.
    private static readonly string[] s_unrolled = ["OperationalStatus", "OperationalDetails", "CannotPoolReason"];

    internal static PSObject From<TInfo>(TInfo info)
        where TInfo : class
    {
        PSObject output = new();
        foreach (PropertyInfo property in Shape<TInfo>.Properties)
        {
            output.Properties.Add(new PSNoteProperty(property.Name, Value(property, info)), preValidated: true);
        }

        for (int i = 0; i < Shape<TInfo>.Names.Length; i++)
        {
            output.TypeNames.Insert(i, Shape<TInfo>.Names[i]);
        }

        return output;
    }

    // Scripts compare these with the name and with the number. Where the text shown is not the name ("Auto-Select"), it is a text on
    // Windows too.
    private static readonly Dictionary<string, Type> s_enumerations = new()
    {
        ["HealthStatus"] = typeof(HealthStatus),
        ["MediaType"] = typeof(MediaType),
        ["MediaTypeDefault"] = typeof(MediaType),
        ["ProvisioningType"] = typeof(ProvisioningType),
        ["ProvisioningTypeDefault"] = typeof(ProvisioningType),
        ["RepairPolicy"] = typeof(RepairPolicy),
        ["RetireMissingPhysicalDisks"] = typeof(RetireMissingPhysicalDisks),
        ["FaultDomainAwareness"] = typeof(FaultDomainType),
        ["FaultDomainAwarenessDefault"] = typeof(FaultDomainType),
    };

    private static object? Value(PropertyInfo property, object info) => property.GetValue(info) switch
    {
        string text when s_enumerations.TryGetValue(property.Name, out Type? type) && Enum.TryParse(type, text, out object? value) => value,
        string[] { Length: 0 } when s_unrolled.Contains(property.Name) => null,
        string[] { Length: 1 } only when s_unrolled.Contains(property.Name) => only[0],
        var value => value,
    };

    private static class Shape<TInfo>
    {
        internal static readonly PropertyInfo[] Properties = typeof(TInfo).GetProperties();
        internal static readonly string[] Names = TypeNames.Of(typeof(TInfo));
    }
}
