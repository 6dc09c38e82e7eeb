using System.Runtime.Versioning;

[assembly: SupportedOSPlatform("linux")]

// Each test measures a machine under load of its own making; two at once would measure each other.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
