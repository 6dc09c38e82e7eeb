using System.Management.Automation;

namespace TierSpaces.Cmdlets;

/// <summary>
/// An object of one Windows class, as a parameter takes it whose position a number can have too. PowerShell converts every value to a PSObject, and an error
/// of a type name ends the binding; a value that is not of the class is not converted to this type, and the binder tries the next parameter of the position.
/// </summary>
public abstract class ClassArgument : PSObject
{
    private protected ClassArgument(PSObject value, string windowsClass)
        : base(value)
    {
        if (!value.TypeNames.Contains(Cmdlets.TypeNames.Short(windowsClass), StringComparer.OrdinalIgnoreCase))
        {
            throw new PSInvalidCastException($"The object is no {windowsClass}: its type is {value.TypeNames.FirstOrDefault()}.");
        }
    }
}

/// <summary>A storage pool.</summary>
/// <param name="value">The object.</param>
public sealed class StoragePoolArgument(PSObject value) : ClassArgument(value, "MSFT_StoragePool");

/// <summary>A disk.</summary>
/// <param name="value">The object.</param>
public sealed class DiskArgument(PSObject value) : ClassArgument(value, "MSFT_Disk");
