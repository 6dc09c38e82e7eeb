using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Listening;

/// <summary>
/// A folder of certificates in the layout of qemu, libnbd and nbdkit: <c>server-cert.pem</c> (certificates of intermediate authorities may follow in it),
/// <c>server-key.pem</c> and, where clients have to prove who they are, <c>ca-cert.pem</c>. It is read for each connection, so renewed files are used from the
/// next one on.
/// </summary>
internal static class TlsCertificates
{
    private const string Certificate = "server-cert.pem";
    private const string Key = "server-key.pem";
    private const string Authorities = "ca-cert.pem";
    private const string Revocations = "ca-crl.pem";
    private const string PresharedKeys = "keys.psk";

    /// <summary>Whether clients have to show a certificate that an authority of the folder has signed.</summary>
    public static bool VerifiesClients(string folder) => File.Exists(Path.Combine(folder, Authorities));

    /// <summary>Reads the folder.</summary>
    /// <exception cref="StorageException">It cannot be used, and why; nothing was changed.</exception>
    public static SslServerAuthenticationOptions Read(string folder)
    {
        RequireNoRevocations(folder);
        X509Certificate2Collection chain = Read(folder, Certificate, static path => Import(path));
        X509Certificate2 own = Read(folder, Key, path => X509Certificate2.CreateFromPemFile(Path.Combine(folder, Certificate), path));
        return new SslServerAuthenticationOptions
        {
            ServerCertificateContext = SslStreamCertificateContext.Create(own, chain, offline: true),
            EnabledSslProtocols = SslProtocols.Tls12 | SslProtocols.Tls13,
            AllowRenegotiation = false,
            ClientCertificateRequired = VerifiesClients(folder),
            CertificateRevocationCheckMode = X509RevocationMode.NoCheck,
            CertificateChainPolicy = VerifiesClients(folder) ? ClientsOf(Read(folder, Authorities, static path => Import(path))) : null,
        };
    }

    /// <summary>The authorities of the folder alone are trusted, not those of the system.</summary>
    private static X509ChainPolicy ClientsOf(X509Certificate2Collection authorities)
    {
        X509ChainPolicy policy = new()
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck,
            DisableCertificateDownloads = true,
        };
        policy.CustomTrustStore.AddRange(authorities);
        return policy;
    }

    /// <summary>Options that are not obeyed are refused: a client whose certificate was revoked would be served.</summary>
    private static void RequireNoRevocations(string folder)
    {
        if (File.Exists(Path.Combine(folder, Revocations)))
        {
            throw Unusable(
                folder, $"{Revocations} is there, and revocation lists are not obeyed",
                $"Sign clients with a new authority instead, and remove {Revocations}.");
        }
    }

    private static X509Certificate2Collection Import(string path)
    {
        X509Certificate2Collection certificates = [];
        certificates.ImportFromPemFile(path);
        return certificates.Count > 0 ? certificates : throw new CryptographicException("it holds no certificate");
    }

    private static T Read<T>(string folder, string file, Func<string, T> read)
    {
        string path = Path.Combine(folder, file);
        try
        {
            return read(path);
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException)
        {
            throw Unusable(folder, File.Exists(Path.Combine(folder, PresharedKeys))
                ? $"{file} is missing; {PresharedKeys} holds pre-shared keys, which the TLS of .NET cannot use" : $"{file} is missing");
        }
        catch (Exception e) when (e is CryptographicException or IOException or UnauthorizedAccessException or ArgumentException)
        {
            throw Unusable(folder, $"{file} cannot be used: {e.Message.TrimEnd('.')}");
        }
    }

    private static StorageException Unusable(string folder, string reason, string? action = null) => new(
        StorageErrors.InvalidParameter,
        $"-TlsCertificatePath '{folder}': {reason}. Valid: a folder with {Certificate} and {Key}, and with {Authorities} where clients have to show a "
        + "certificate.",
        action ?? "Make the files with the tools of qemu or libnbd (certtool) or with openssl, all in PEM.", folder);
}
