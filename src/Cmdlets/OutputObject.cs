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
        where TInfo : class =>
        info is StorageFaultDomainInfo domain ? OfDomain(domain)
        : info is StorageCounterInfo { Sample: { } sample } ? From(sample)
        : info is PhysicalExtentInfo { Slice: { } slice } ? From(slice)
        : Shape<TInfo>.Value is { Property: { } property } one ? PSObject.AsPSObject(Shown(property.GetValue(info), one.Shown))
        : From(info, Shape<TInfo>.Names);

    /// <summary>A disk or an enclosure among fault domains is the object that it is; the others have the class of their type.</summary>
    private static PSObject OfDomain(StorageFaultDomainInfo domain) =>
        domain.PhysicalDisk is { } disk ? From(disk)
        : domain.StorageEnclosure is { } enclosure ? From(enclosure)
        : From(domain, TypeNames.OfClass("MSFT_" + domain.Type));

    private static PSObject From<TInfo>(TInfo info, string[] names)
        where TInfo : class
    {
        PSObject output = new();
        foreach ((PropertyInfo property, ShownEnumeration? shown) in Shape<TInfo>.Properties)
        {
            object? value = AsOnWindows(property.Name, property.GetValue(info));
            output.Properties.Add(new PSNoteProperty(property.Name, Shown(value, shown)), preValidated: true);
        }

        foreach ((string alias, string property) in Shape<TInfo>.Aliases)
        {
            output.Properties.Add(new PSAliasProperty(alias, property), preValidated: true);
        }

        for (int i = 0; i < names.Length; i++)
        {
            output.TypeNames.Insert(i, names[i]);
        }

        return output;
    }

    // A drive letter is a character, as on Windows: scripts count with it, [byte] (Get-Volume F).DriveLetter + 1.
    private static object? AsOnWindows(string property, object? value) => value switch
    {
        string { Length: 1 } letter when property == nameof(VolumeInfo.DriveLetter) => letter[0],
        string[] { Length: 0 } when s_unrolled.Contains(property) => null,
        string[] { Length: 1 } only when s_unrolled.Contains(property) => only[0],
        _ => value,
    };

    private static object? Shown(object? value, ShownEnumeration? shown) => (shown, value) switch
    {
        (not null, string text) => shown.Of(text),
        (not null, string[] texts) => shown.Of(texts),
        _ => value,
    };

    private static class Shape<TInfo>
    {
        internal static readonly (PropertyInfo Property, ShownEnumeration? Shown)[] Properties =
            [.. typeof(TInfo).GetProperties().Select(property => (property, Shown(property)))];

        // The one property whose value is written in place of the object; none for most.
        internal static readonly (PropertyInfo? Property, ShownEnumeration? Shown) Value =
            Properties.FirstOrDefault(one => one.Property.Name == typeof(TInfo).GetCustomAttribute<WindowsClassAttribute>()?.Value);

        internal static readonly (string Alias, string Property)[] Aliases =
            [.. (typeof(TInfo).GetCustomAttribute<WindowsClassAttribute>()?.Aliases ?? "").Split(',', StringSplitOptions.RemoveEmptyEntries)
                .Select(static pair => pair.Trim().Split('=')).Select(static pair => (pair[0], pair[1]))];

        internal static readonly string[] Names = TypeNames.Of(typeof(TInfo));

        private static ShownEnumeration? Shown(PropertyInfo property) =>
            ObjectEnumerations.Of(typeof(TInfo), property.Name) is { } enumeration ? new ShownEnumeration(enumeration.Name) : null;
    }
}
