using System.Reflection;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>Prints a reply: objects on standard output, warnings and errors on standard error.</summary>
internal static class ReplyText
{
    /// <summary>For people and pipes, not for web pages: a plus sign stays one.</summary>
    private static readonly JsonWriterOptions indented = new()
    {
        Indented = true, Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };

    /// <summary>Prints everything in the reply.</summary>
    /// <returns>Exit code: 1 when there is an error, else 0.</returns>
    public static int Print(VerbDescription verb, JsonElement reply, bool asJson, TextWriter output, TextWriter error)
    {
        var objects = reply.GetProperty("Objects");
        if (asJson)
        {
            output.WriteLine(ToJson(objects));
        }
        else if (verb.OutputType.GetCustomAttribute<WindowsClassAttribute>() is { Text.Length: > 0 } shown)
        {
            foreach (var item in objects.EnumerateArray())
            {
                output.WriteLine(item.GetProperty(shown.Text).GetString());
            }
        }
        else
        {
            TableText.Print(verb.OutputType, objects, output);
        }

        return PrintRemarks(verb, reply, error);
    }

    /// <summary>Prints warnings and errors.</summary>
    /// <returns>Exit code: 1 when there is an error, else 0.</returns>
    public static int PrintRemarks(VerbDescription verb, JsonElement reply, TextWriter error)
    {
        foreach (var warning in reply.GetProperty("Warnings").EnumerateArray())
        {
            error.WriteLine($"WARNING: {warning.GetString()}");
        }

        var failed = 0;
        foreach (var info in reply.GetProperty("Errors").EnumerateArray())
        {
            PrintError(verb.Name, info.Deserialize(ContractsJson.Default.StorageErrorInfo)!, error);
            failed = 1;
        }

        return failed;
    }

    /// <summary>One line: <c>New-VirtualDisk: message [StorageWMI 48004]</c>; a refusal of ours adds its word.</summary>
    public static void PrintError(string verb, StorageErrorInfo info, TextWriter error)
    {
        var shared = info.Code == StorageErrors.InvalidParameter.Code && info.Word != StorageErrors.InvalidParameter.Word;
        error.WriteLine($"{verb}: {info.OneLine} [{info.ErrorId}{(shared ? " " + info.Word : "")}]");
    }

    private static string ToJson(JsonElement objects)
    {
        using var stream = new MemoryStream();
        using (var writer = new Utf8JsonWriter(stream, indented))
        {
            objects.WriteTo(writer);
        }

        return Encoding.UTF8.GetString(stream.GetBuffer(), 0, (int)stream.Length);
    }
}
