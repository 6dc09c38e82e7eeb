using System.Globalization;
using System.Management.Automation;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>
/// Checks a value before PowerShell converts it to the number type of the parameter, so that one that does not fit is answered with the code and
/// the range, as on the command line. A value that fits is passed on as it was given, and a size in any way in which the command line takes it. So is a
/// property bag: PowerShell may try a number before the parameter for objects at the same position, and goes on only if the conversion itself fails.
/// PowerShell would round a number that is not whole: it is refused, but for a size, which is rounded to bytes.
/// </summary>
/// <param name="parameter">Name of the parameter.</param>
/// <param name="type">Type of the parameter.</param>
/// <param name="isSize">Whether it is a size in bytes.</param>
[AttributeUsage(AttributeTargets.Property)]
public sealed class WholeNumberAttribute(string parameter, Type type, bool isSize) : ArgumentTransformationAttribute
{
    /// <inheritdoc/>
    public override object? Transform(EngineIntrinsics engineIntrinsics, object? inputData)
    {
        object? value = isSize ? WithSuffixes(inputData) : inputData;
        return value is null or PSObject { BaseObject: PSCustomObject }
            || (LanguagePrimitives.TryConvertTo(value, type, out object _) && (isSize || !IsFractional(value)))
            ? value
            : throw new ArgumentTransformationMetadataException(
                $"{NumberRange.Describe(parameter, type.IsArray ? type.GetElementType()! : type, isSize, ValueOf(inputData!))} [StorageWMI {StorageErrors.InvalidParameter.Code}]");
    }

    /// <summary>Returns the value with the words that are sizes for the command line alone, as 100M and 1GiB, in bytes.</summary>
    private static object? WithSuffixes(object? input)
    {
        object? value = input is PSObject wrapped ? wrapped.BaseObject : input;
        return value is object[] items ? Array.ConvertAll(items, WithSuffixes)
            : value is string text && !LanguagePrimitives.TryConvertTo(text, out ulong _) && SizeText.TryParse(text, out ulong bytes) ? bytes
            : input;
    }

    /// <summary>Whether a number, a text of one, or one of several is not whole.</summary>
    private static bool IsFractional(object? input)
    {
        object? value = input is PSObject wrapped ? wrapped.BaseObject : input;
        return value is object[] items ? Array.Exists(items, IsFractional)
            : value is double or float or decimal or string && LanguagePrimitives.TryConvertTo(value, out double number) && number != Math.Truncate(number);
    }

    private string ValueOf(object input)
    {
        object value = input is PSObject wrapped ? wrapped.BaseObject : input;
        object shown = value is object[] items && type.IsArray
            ? Array.Find(items, item => !LanguagePrimitives.TryConvertTo(item, type.GetElementType()!, out object _) || IsFractional(item)) ?? value
            : value;
        return string.Create(CultureInfo.InvariantCulture, $"{shown}");
    }
}
