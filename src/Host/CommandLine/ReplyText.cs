using System.Reflection;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>Prints a reply, page by page as they come: objects on standard output, warnings and errors on standard error.</summary>
internal sealed class ReplyText
{
    /// <summary>For people and pipes, not for web pages: a plus sign stays one.</summary>
    private static readonly JsonWriterOptions s_indented = new()
    {
        Indented = true, Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    private readonly VerbDescription _verb;
    private readonly TextWriter _output;
    private readonly TextWriter _error;
    private readonly bool _asJson;
    private readonly int _width;
    private readonly string _shown;
    private readonly PropertyInfo? _inner;
    private TableText _table;
    private bool _isListBegun;
    private int _failed;

    /// <summary>Begins a reply.</summary>
    /// <param name="verb">The verb.</param>
    /// <param name="asJson">Whether objects are JSON.</param>
    /// <param name="output">Standard output.</param>
    /// <param name="error">Standard error.</param>
    /// <param name="width">Columns of the terminal; <see cref="int.MaxValue"/> where the output is none.</param>
    public ReplyText(VerbDescription verb, bool asJson, TextWriter output, TextWriter error, int width = int.MaxValue)
    {
        (_verb, _asJson, _output, _error, _width) = (verb, asJson, output, error, width);
        WindowsClassAttribute shape = verb.OutputType.GetCustomAttribute<WindowsClassAttribute>()!;
        _shown = shape.Text;
        _inner = shape.Inner.Length > 0 ? verb.OutputType.GetProperty(shape.Inner) : null;
        _table = new TableText(verb.OutputType, output, width);
    }

    /// <summary>Prints everything in a reply of one page.</summary>
    /// <returns>Exit code: 1 when there is an error, else 0.</returns>
    public static int Print(VerbDescription verb, JsonElement reply, bool asJson, TextWriter output, TextWriter error, int width = int.MaxValue)
    {
        ReplyText text = new ReplyText(verb, asJson, output, error, width);
        text.Print(reply);
        return text.End();
    }

    /// <summary>Prints everything in a page.</summary>
    public void Print(JsonElement reply)
    {
        JsonElement objects = TakeInner(reply.GetProperty("Objects"));
        if (!_asJson && _shown.Length > 0)
        {
            foreach (JsonElement item in objects.EnumerateArray())
            {
                _output.WriteLine(item.GetProperty(_shown).GetString());
            }
        }
        else if (!_asJson)
        {
            _table.Print(objects);
        }
        else if (objects.GetArrayLength() > 0)
        {
            _output.Write((_isListBegun ? "," : "[") + ToJson(objects)[1..^2]);
            _isListBegun = true;
        }

        _failed |= PrintRemarks(_verb, reply, _error);
    }

    /// <summary>Ends the reply.</summary>
    /// <returns>Exit code: 1 when there was an error, else 0.</returns>
    public int End()
    {
        if (_asJson)
        {
            _output.WriteLine(_isListBegun ? "\n]" : "[]");
        }

        _table.End();   // prints nothing where it printed nothing
        return _failed;
    }

    /// <summary>Prints warnings and errors.</summary>
    /// <returns>Exit code: 1 when there is an error, else 0.</returns>
    public static int PrintRemarks(VerbDescription verb, JsonElement reply, TextWriter error)
    {
        foreach (JsonElement warning in reply.GetProperty("Warnings").EnumerateArray())
        {
            error.WriteLine($"WARNING: {warning.GetString()}");
        }

        int failed = 0;
        foreach (JsonElement info in reply.GetProperty("Errors").EnumerateArray())
        {
            PrintError(verb.Name, info.Deserialize(ContractsJson.Default.StorageErrorInfo)!, error);
            failed = 1;
        }

        return failed;
    }

    /// <summary>Prints one line: <c>New-VirtualDisk: message [StorageWMI 48004]</c>. An error without a Windows code adds its word.</summary>
    public static void PrintError(string verb, StorageErrorInfo info, TextWriter error)
    {
        bool shared = info.Code == StorageErrors.InvalidParameter.Code && info.Word != StorageErrors.InvalidParameter.Word;
        error.WriteLine($"{verb}: {info.OneLine} [{info.ErrorId}{(shared ? " " + info.Word : "")}]");
    }

    /// <summary>Returns the objects that are shown in place of these, from a page whose first object has one; else these.</summary>
    private JsonElement TakeInner(JsonElement objects)
    {
        if (_inner is null || objects.GetArrayLength() == 0 || !objects[0].TryGetProperty(_inner.Name, out _))
        {
            return objects;
        }

        _table = new TableText(_inner.PropertyType, _output, _width);
        return JsonDocument.Parse($"[{string.Join(',', objects.EnumerateArray().Select(item => item.GetProperty(_inner.Name).GetRawText()))}]").RootElement;
    }

    /// <summary>Returns the objects between brackets; the closing bracket has its own line.</summary>
    private static string ToJson(JsonElement objects)
    {
        using MemoryStream stream = new MemoryStream();
        using (Utf8JsonWriter writer = new Utf8JsonWriter(stream, s_indented))
        {
            objects.WriteTo(writer);
        }

        return Encoding.UTF8.GetString(stream.GetBuffer(), 0, (int)stream.Length);
    }
}
