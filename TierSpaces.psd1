@{
    # The assembly itself and no script around it, which alone would take as long as all the rest of an import.
    RootModule           = 'bin/TierSpaces.Cmdlets.dll'
    RequiredAssemblies   = 'bin/TierSpaces.Contracts.dll', 'bin/TierSpaces.Enumerations.dll'   # before the types, which are of the second
    ModuleVersion        = '0.1.0'
    GUID                 = '5b0b7f5c-3c0e-4f43-9d7a-6d6f4f1d8c52'
    Author               = 'TierSpaces contributors'
    CompanyName          = 'TierSpaces contributors'
    Copyright            = 'TierSpaces contributors. MIT license.'
    Description          = 'Storage Spaces for every machine: pools, mirrored and striped virtual disks, with the cmdlets of Windows.'
    PowerShellVersion    = '7.4'
    CompatiblePSEditions = 'Core'
    FormatsToProcess     = 'TierSpaces.format.ps1xml'
    TypesToProcess       = 'TierSpaces.types.ps1xml'
    FunctionsToExport    = @()
    VariablesToExport    = @()
    AliasesToExport      = @()
    CmdletsToExport      = @(
        'Add-PhysicalDisk'
        'Get-PhysicalDisk'
        'New-PhysicalDisk'
        'Register-PhysicalDisk'
        'Remove-PhysicalDisk'
        'Reset-PhysicalDisk'
        'Set-PhysicalDisk'
        'Set-EmulatedDiskFault'
        'Unregister-PhysicalDisk'
        'Get-PhysicalExtent'
        'Get-ResiliencySetting'
        'Set-ResiliencySetting'
        'Get-StorageCounter'
        'Get-StorageJob'
        'Stop-StorageJob'
        'Get-StoragePool'
        'New-StoragePool'
        'Remove-StoragePool'
        'Set-StoragePool'
        'Update-StoragePool'
        'Optimize-StoragePool'
        'Test-StoragePowerCut'
        'Get-StorageReliabilityCounter'
        'Reset-StorageReliabilityCounter'
        'Get-StorageSubSystem'
        'Get-StorageTier'
        'New-StorageTier'
        'Remove-StorageTier'
        'Set-StorageTier'
        'Get-TierSpacesHost'
        'Start-TierSpacesHost'
        'Stop-TierSpacesHost'
        'Connect-VirtualDisk'
        'Disconnect-VirtualDisk'
        'Get-VirtualDisk'
        'New-VirtualDisk'
        'Remove-VirtualDisk'
        'Repair-VirtualDisk'
        'Resize-VirtualDisk'
        'Set-VirtualDisk'
        'Get-VirtualDiskSupportedSize'
        'Get-VirtualDiskWriteCache'
    )
    PrivateData          = @{
        PSData = @{
            Tags       = 'Storage', 'StorageSpaces', 'NBD', 'Linux'
            LicenseUri = 'https://opensource.org/license/mit'
        }
    }
}
