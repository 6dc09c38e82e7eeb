using System.Runtime.Versioning;

[assembly: SupportedOSPlatform("linux")]
[assembly: CollectionBehavior(DisableTestParallelization = true)]   // the tools are heavy, and share two cores with the server
