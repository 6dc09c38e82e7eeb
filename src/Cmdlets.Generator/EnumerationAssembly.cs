using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Security.Cryptography;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets.Generator;

/// <summary>
/// The enumerations of the shell: those of the contracts, with members named as objects show them. "Auto-Select" and "Lost Communication"
/// are no identifiers of C#, but names that PowerShell compares, parses and prints, so that such a value equals its text and its
/// number. They are 64 bits wide because ConvertTo-Json prints those as text.
/// </summary>
internal sealed class EnumerationAssembly
{
    internal const string Name = "TierSpaces.Enumerations";

    private readonly MetadataBuilder _metadata = new();
    private readonly TypeReferenceHandle _enum;
    private int _fields;   // rows written

    private EnumerationAssembly()
    {
        _metadata.AddModule(0, Text(Name + ".dll"), _metadata.GetOrAddGuid(default), default, default);
        _metadata.AddAssembly(Text(Name), typeof(DisplayName).Assembly.GetName().Version!, default, default, 0, AssemblyHashAlgorithm.Sha1);
        AssemblyReferenceHandle runtime = _metadata.AddAssemblyReference(Text("System.Runtime"), new Version(8, 0, 0, 0), default, default, 0, default);
        _enum = _metadata.AddTypeReference(runtime, Text("System"), Text("Enum"));
        _metadata.AddTypeDefinition(0, default, Text("<Module>"), default, Field(1), MetadataTokens.MethodDefinitionHandle(1));
    }

    /// <summary>Writes the assembly with these enumerations of the contracts.</summary>
    internal static void Write(string file, IEnumerable<Type> enumerations)
    {
        EnumerationAssembly assembly = new();
        foreach (Type enumeration in enumerations)
        {
            assembly.Add(enumeration);
        }

        File.WriteAllBytes(file, assembly.Serialize());
    }

    private void Add(Type enumeration)
    {
        TypeDefinitionHandle type = _metadata.AddTypeDefinition(
            TypeAttributes.Public | TypeAttributes.Sealed, Text(Name), Text(enumeration.Name), _enum, Field(_fields + 1),
            MetadataTokens.MethodDefinitionHandle(1));
        AddField(FieldAttributes.Public | FieldAttributes.SpecialName | FieldAttributes.RTSpecialName, "value__", Signature(to => to.Int64()));
        BlobHandle literal = Signature(to => to.Type(type, isValueType: true));
        foreach (Enum value in Enum.GetValues(enumeration))
        {
            FieldDefinitionHandle member = AddField(
                FieldAttributes.Public | FieldAttributes.Static | FieldAttributes.Literal | FieldAttributes.HasDefault, DisplayName.Of(value), literal);
            _metadata.AddConstant(member, Convert.ToInt64(value));
        }
    }

    private FieldDefinitionHandle AddField(FieldAttributes attributes, string name, BlobHandle signature)
    {
        _fields++;
        return _metadata.AddFieldDefinition(attributes, Text(name), signature);
    }

    private BlobHandle Signature(Action<SignatureTypeEncoder> type)
    {
        BlobBuilder blob = new();
        type(new BlobEncoder(blob).Field().Type());
        return _metadata.GetOrAddBlob(blob);
    }

    private byte[] Serialize()
    {
        BlobBuilder image = new();
        new ManagedPEBuilder(
            PEHeaderBuilder.CreateLibraryHeader(), new MetadataRootBuilder(_metadata), ilStream: new BlobBuilder(),
            deterministicIdProvider: content => BlobContentId.FromHash(SHA256.HashData(content.SelectMany(blob => blob.GetBytes()).ToArray()))).Serialize(
                image);
        return image.ToArray();
    }

    private StringHandle Text(string text) => _metadata.GetOrAddString(text);

    private static FieldDefinitionHandle Field(int row) => MetadataTokens.FieldDefinitionHandle(row);
}
