using System.Management.Automation;

namespace TierSpaces.Cmdlets;

/// <summary>Adds the drives of volumes to a session when the module is loaded and removes them with it.</summary>
public sealed class ModuleEvents : IModuleAssemblyInitializer, IModuleAssemblyCleanup
{
    /// <inheritdoc/>
    public void OnImport() => SessionDrives.UpdateAtImport();

    /// <inheritdoc/>
    public void OnRemove(PSModuleInfo psModuleInfo) => SessionDrives.RemoveAll(psModuleInfo.SessionState);
}
