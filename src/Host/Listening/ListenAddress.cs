using System.Net;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Listening;

/// <summary>Address at which a virtual disk takes NBD clients over TCP, as users write it and as clients read it.</summary>
internal static class ListenAddress
{
    /// <summary>Port of NBD, which an address without one has.</summary>
    internal const int DefaultPort = 10809;

    /// <summary>Parses an address of this machine: <c>127.0.0.1</c>, <c>[::1]:10810</c>, <c>localhost:10810</c>.</summary>
    /// <exception cref="StorageException">It is none; nothing was changed.</exception>
    public static IPEndPoint Parse(string text)
    {
        const string name = "localhost";
        string numeric = text == name || text.StartsWith(name + ":", StringComparison.Ordinal) ? IPAddress.Loopback + text[name.Length..] : text;
        if (numeric.AsSpan().IndexOfAny('.', ':') < 0 || !IPEndPoint.TryParse(numeric, out IPEndPoint? endpoint))   // a number alone is an address to .NET
        {
            throw new StorageException(
                StorageErrors.InvalidParameter,
                $"-ListenAddress '{text}': is no address. Valid: an IP address of this machine or localhost, with a port or without: "
                + $"127.0.0.1, [::1]:{DefaultPort}, 0.0.0.0:{DefaultPort}.", "Correct it.", text);
        }

        return endpoint.Port == 0 ? new IPEndPoint(endpoint.Address, DefaultPort) : endpoint;
    }

    /// <summary>Refuses to serve other machines in the clear.</summary>
    /// <exception cref="StorageException">The address is reached from other machines, and there are no certificates; nothing was changed.</exception>
    public static void RequireTlsBeyondLoopback(IPEndPoint endpoint, string? certificates, string target)
    {
        if (certificates is null && !IPAddress.IsLoopback(endpoint.Address))
        {
            throw new StorageException(
                StorageErrors.InvalidParameter,
                $"-ListenAddress {endpoint}: other machines reach this address, and nothing would be ciphered. Valid without TLS: 127.0.0.1 and ::1.",
                "Give -TlsCertificatePath, a folder with server-cert.pem, server-key.pem and ca-cert.pem, or listen at a loopback address.", target);
        }
    }

    /// <summary>Returns the URI at which clients find an export.</summary>
    /// <param name="endpoint">Address and port.</param>
    /// <param name="isCiphered">Whether clients have to use TLS.</param>
    /// <param name="exportName">Name of the export.</param>
    public static string Uri(IPEndPoint endpoint, bool isCiphered, string exportName)
    {
        bool isAny = endpoint.Address.Equals(IPAddress.Any) || endpoint.Address.Equals(IPAddress.IPv6Any);
        string authority = isAny ? $"{Environment.MachineName}:{endpoint.Port}" : endpoint.ToString();
        return $"{(isCiphered ? "nbds" : "nbd")}://{authority}/{System.Uri.EscapeDataString(exportName)}";
    }
}
