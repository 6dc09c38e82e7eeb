using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace TierSpaces.Host.Tests.Listening;

/// <summary>Folders of certificates, in the layout of qemu and libnbd, made for one test.</summary>
internal sealed class TestCertificates
{
    private static readonly DateTimeOffset s_from = DateTimeOffset.UtcNow.AddDays(-1);
    private static readonly DateTimeOffset s_until = s_from.AddDays(30);
    private readonly X509Certificate2 _authority = NewAuthority();

    /// <summary>Makes a folder for a server, and returns its path.</summary>
    public string Server(string folder, bool verifiesClients)
    {
        SubjectAlternativeNameBuilder names = new();
        names.AddIpAddress(IPAddress.Loopback);
        names.AddIpAddress(IPAddress.IPv6Loopback);
        names.AddDnsName("localhost");
        Write(folder, "server", Sign("CN=server", "1.3.6.1.5.5.7.3.1", names.Build()), verifiesClients);
        return folder;
    }

    /// <summary>Makes a folder for a client, and returns its path. Without a certificate of its own it holds the authority alone.</summary>
    public string Client(string folder, bool hasCertificate = true)
    {
        Write(folder, "client", hasCertificate ? Sign("CN=client", "1.3.6.1.5.5.7.3.2", null) : null, hasAuthority: true);
        return folder;
    }

    private static X509Certificate2 NewAuthority()
    {
        ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        CertificateRequest request = new("CN=authority of a test", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(certificateAuthority: true, false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign, critical: true));
        return request.CreateSelfSigned(s_from, s_until);
    }

    private (X509Certificate2 Certificate, ECDsa Key) Sign(string subject, string usage, X509Extension? names)
    {
        ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        CertificateRequest request = new(subject, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(false, false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.DigitalSignature, critical: true));
        request.CertificateExtensions.Add(new X509EnhancedKeyUsageExtension([new Oid(usage)], critical: false));
        if (names is not null)
        {
            request.CertificateExtensions.Add(names);
        }

        return (request.Create(_authority, s_from, s_until, RandomNumberGenerator.GetBytes(8)), key);
    }

    private void Write(string folder, string role, (X509Certificate2 Certificate, ECDsa Key)? own, bool hasAuthority)
    {
        Directory.CreateDirectory(folder);
        if (hasAuthority)
        {
            File.WriteAllText(Path.Combine(folder, "ca-cert.pem"), _authority.ExportCertificatePem());
        }

        if (own is var (certificate, key))
        {
            File.WriteAllText(Path.Combine(folder, $"{role}-cert.pem"), certificate.ExportCertificatePem());
            File.WriteAllText(Path.Combine(folder, $"{role}-key.pem"), key.ExportPkcs8PrivateKeyPem());
        }
    }
}
