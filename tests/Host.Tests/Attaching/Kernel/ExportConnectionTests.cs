using TierSpaces.Host.Attaching;
using TierSpaces.Host.Attaching.Kernel;

namespace TierSpaces.Host.Tests.Attaching.Kernel;

public sealed class ExportConnectionTests : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;

    private string SocketPath => Path.Combine(_root, "s");

    [Fact]
    public void Learns_size_and_flags()
    {
        using SmallNbdServer server = new(SocketPath);
        using ExportConnection connection = ExportConnection.Open(SocketPath, server.ExportName);
        Assert.Equal((SmallNbdServer.Length, SmallNbdServer.Flags), (connection.Length, connection.Flags));
    }

    [Fact]
    public void A_refusal_comes_with_the_servers_words()
    {
        using SmallNbdServer server = new(SocketPath);
        Assert.Equal($"{SocketPath}: the server refuses: no such thing (0x80000006)", FailureOf("another"));
    }

    [Theory]
    [InlineData("HTTP/1.1 400 Bad Request", "not an NBD server of fixed newstyle")]
    [InlineData("NBDMAGICIHAVEOPT\0\0", "not an NBD server of fixed newstyle")]
    [InlineData("NBDMAGIC", "the server ended the connection")]
    [InlineData("NBDMAGICIHAVEOPT\0\u0003HTTP/1.1 400 Bad Request", "the server's reply is not one of NBD")]
    public void What_is_no_server_of_ours_is_refused(string greeting, string expected)
    {
        using SmallNbdServer server = new(SocketPath) { Greeting = System.Text.Encoding.ASCII.GetBytes(greeting) };
        Assert.Equal($"{SocketPath}: {expected}", FailureOf("any"));
    }

    [Fact]
    public void Nobody_there_is_an_attach_failure() => Assert.StartsWith($"{SocketPath}: ", FailureOf("any"));

    public void Dispose() => Directory.Delete(_root, recursive: true);

    private string FailureOf(string name) =>
        Assert.Throws<AttachException>(() => ExportConnection.Open(SocketPath, name)).Message;
}
