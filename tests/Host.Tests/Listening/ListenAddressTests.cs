using System.Net;
using TierSpaces.Contracts;
using TierSpaces.Host.Listening;

namespace TierSpaces.Host.Tests.Listening;

public sealed class ListenAddressTests
{
    [Theory]
    [InlineData("127.0.0.1", "127.0.0.1:10809")]
    [InlineData("127.0.0.1:0", "127.0.0.1:10809")]
    [InlineData("127.0.0.1:10810", "127.0.0.1:10810")]
    [InlineData("localhost", "127.0.0.1:10809")]
    [InlineData("localhost:5", "127.0.0.1:5")]
    [InlineData("::1", "[::1]:10809")]
    [InlineData("[::1]:7", "[::1]:7")]
    [InlineData("0.0.0.0", "0.0.0.0:10809")]
    public void An_address_has_a_port_or_that_of_NBD(string text, string address) => Assert.Equal(address, ListenAddress.Parse(text).ToString());

    [Theory]
    [InlineData("")]
    [InlineData("10809")]
    [InlineData("example.org")]
    [InlineData("localhost:x")]
    [InlineData("127.0.0.1:70000")]
    [InlineData("/run/nbd.sock")]
    public void Anything_else_is_refused_with_what_is_valid(string text) =>
        Assert.Contains(
            $"-ListenAddress '{text}': is no address. Valid: an IP address", Assert.Throws<StorageException>(() => ListenAddress.Parse(text)).Message);

    [Theory]
    [InlineData("127.0.0.1", null, true)]
    [InlineData("127.3.3.3", null, true)]
    [InlineData("::1", null, true)]
    [InlineData("0.0.0.0", null, false)]
    [InlineData("::", null, false)]
    [InlineData("192.0.2.1", null, false)]
    [InlineData("192.0.2.1", "/certificates", true)]
    public void Only_loopback_addresses_are_served_in_the_clear(string address, string? certificates, bool isTaken)
    {
        IPEndPoint endpoint = ListenAddress.Parse(address);
        StorageException? refused = (StorageException?)Record.Exception(() => ListenAddress.RequireTlsBeyondLoopback(endpoint, certificates, "d"));
        Assert.Equal(isTaken, refused is null);
        Assert.True(isTaken || refused!.Message.Contains("Give -TlsCertificatePath", StringComparison.Ordinal));
    }

    [Fact]
    public void The_URI_names_the_machine_where_every_address_is_listened_at()
    {
        Assert.Equal("nbd://[::1]:10809/a%20b", ListenAddress.Uri(ListenAddress.Parse("::1"), false, "a b"));
        Assert.Equal($"nbds://{Environment.MachineName}:7/d", ListenAddress.Uri(ListenAddress.Parse("0.0.0.0:7"), true, "d"));
    }
}
