BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
}

AfterAll {
    Stop-TestSession
}

Describe 'Update-StorageProviderCache' {
    It 'takes back a disk whose file has come back, with <Given>, and not with a level that has no physical disks' -ForEach @(
        @{ Given = 'nothing'; Parameters = @{} }
        @{ Given = 'the level Full'; Parameters = @{ DiscoveryLevel = 'Full' } }
        @{ Given = 'the level Level3'; Parameters = @{ DiscoveryLevel = 'Level3' } }
    ) {
        $null = Stop-TierSpacesHost
        Rename-Item Pool14.img away.img
        (Get-PhysicalDisk Pool14).OperationalStatus | Should -Be 'Lost Communication'
        Rename-Item away.img Pool14.img
        Update-StorageProviderCache -WhatIf
        Update-StorageProviderCache -DiscoveryLevel Level2
        (Get-PhysicalDisk Pool14).OperationalStatus | Should -Be 'Lost Communication'
        Update-StorageProviderCache @Parameters | Should -BeNullOrEmpty
        (Get-PhysicalDisk Pool14).OperationalStatus | Should -Be 'OK'
    }

    It 'says with -Verbose what it does' {
        $told = Update-StorageProviderCache -Verbose 4>&1
        $told.Message | Should -Contain 'Look at every registered physical disk again and open the storage pools that can be opened now'
    }

    It 'knows its provider by name, manufacturer, identifier and subsystem, and refuses other ones' {
        Update-StorageProviderCache 'Storage Spaces*' -Manufacturer TierSpaces | Should -BeNullOrEmpty
        Update-StorageProviderCache -UniqueId (Get-StorageSubSystem).UniqueId | Should -BeNullOrEmpty
        Get-StorageSubSystem | Update-StorageProviderCache | Should -BeNullOrEmpty
        (Get-WrittenError { Update-StorageProviderCache Nothing }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_Name,Update-StorageProviderCache'
        (Get-WrittenError { Update-StorageProviderCache -URI 'http://localhost' }).FullyQualifiedErrorId | Should -Be 'StorageWMI 1,Update-StorageProviderCache'
    }
}
