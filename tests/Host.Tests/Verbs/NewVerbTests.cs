using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;
using TierSpaces.Contracts;
using TierSpaces.Host.CommandLine;
using TierSpaces.Host.Verbs;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>A new verb, declared only here: parsing, validation, execution, printing and help work without further code.</summary>
public class NewVerbTests
{
    private static readonly VerbDescription s_verb = VerbDescription.Of(typeof(MeasureTeapotRequest));

    [Fact]
    public async Task It_is_read_carried_out_and_printed()
    {
        VerbArguments arguments = VerbArguments.Read(s_verb, ["brown", "-vol", "2KB", "-Guests", "'a,b',c"]);
        VerbDispatcher dispatcher = new VerbDispatcher([new Handler()], new SemaphoreSlim(1, 1));
        byte[] answer = await dispatcher.AnswerAsync("measure-teapot", RequestText.Write(s_verb, arguments), TestContext.Current.CancellationToken);
        (StringWriter? output, StringWriter? error) = (new StringWriter(), new StringWriter());
        Assert.Equal(1, ReplyText.Print(s_verb, JsonDocument.Parse(answer).RootElement, asJson: false, output, error));
        Assert.Equal("Name  Volume\n----  ------\nbrown   2 KB\n\n", output.ToString());
        Assert.Equal("Measure-Teapot: Not supported. The guest a,b takes no tea. [StorageWMI 1]\n", error.ToString());
    }

    [Fact]
    public void It_has_help()
    {
        StringWriter output = new StringWriter();
        VerbHelp.Print(s_verb, output);
        Assert.Contains("tierspaces Measure-Teapot [-Name] <text> [-Volume <size>] [-Guests <text[,...]>]", output.ToString());
    }

    [Fact]
    public void Its_parameters_are_checked()
    {
        UsageException wrong = Assert.Throws<UsageException>(() => VerbArguments.Read(s_verb, ["-Volume", "1"]));
        Assert.Equal("-Name must be given.", wrong.Message);
    }

    private sealed class Handler : VerbHandler<MeasureTeapotRequest, TeapotInfo>
    {
        protected override JsonTypeInfo<MeasureTeapotRequest> RequestJson => TeapotJson.Default.MeasureTeapotRequest;

        protected override JsonTypeInfo<VerbReply<TeapotInfo>> ReplyJson => TeapotJson.Default.VerbReplyTeapotInfo;

        protected override async Task HandleAsync(
            MeasureTeapotRequest request, ReplyBuilder<TeapotInfo> reply, CancellationToken cancellation)
        {
            reply.Add(new TeapotInfo { Name = request.Name!, Volume = request.Volume!.Value });
            await reply.TryAsync(() => throw new StorageException(
                StorageErrors.NotSupported, $"The guest {request.Guests![0]} takes no tea."));
        }
    }
}

[Verb("Measure-Teapot", "Measures a teapot.")]
internal sealed record MeasureTeapotRequest : StorageRequest<TeapotInfo>
{
    [VerbParameter("Name.", Required = true, Position = 0)]
    public string? Name { get; init; }

    [VerbParameter("Volume.", Kind = ParameterKind.Size)]
    public ulong? Volume { get; init; }

    [VerbParameter("Guests.")]
    public string[]? Guests { get; init; }
}

[WindowsClass("MSFT_Teapot", "Name", "Volume:bytes")]
internal sealed record TeapotInfo
{
    public string Name { get; init; } = "";

    public ulong Volume { get; init; }
}

[JsonSerializable(typeof(MeasureTeapotRequest))]
[JsonSerializable(typeof(VerbReply<TeapotInfo>))]
internal sealed partial class TeapotJson : JsonSerializerContext;
