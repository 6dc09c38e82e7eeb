BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
}

AfterAll {
    Stop-TestSession
}

Describe 'Update-StoragePool' {
    It 'leaves an open pool as it is' {
        $before = Get-StoragePool Pool1 | ConvertTo-Json
        Update-StoragePool Pool1 | Should -BeNullOrEmpty
        Get-StoragePool Pool1 | Update-StoragePool -PassThru | ConvertTo-Json | Should -Be $before
    }

    It 'takes back a disk whose file has come back' {
        $null = Stop-TierSpacesHost
        Rename-Item Pool14.img away.img
        (Get-PhysicalDisk Pool14).OperationalStatus | Should -Be 'Lost Communication'
        Rename-Item away.img Pool14.img
        Update-StoragePool Pool1
        (Get-PhysicalDisk Pool14).OperationalStatus | Should -Be 'OK'
    }

    It 'brings a pool to the version that Get-StoragePool shows' {
        (Update-StoragePool Pool1 -PassThru).FormatVersion | Should -Be 4
        Get-StoragePool Pool1 | Format-List | Out-String | Should -Match 'FormatVersion +: 4\b'
        (Get-StoragePool Pool1).Version | Should -BeNullOrEmpty
        (Get-StoragePool -IsPrimordial $true).FormatVersion | Should -BeNullOrEmpty
    }

    It 'does nothing with -WhatIf, and refuses the primordial pool and names that are not there' {
        Update-StoragePool Pool1 -PassThru -WhatIf | Should -BeNullOrEmpty
        (Get-WrittenError { Update-StoragePool Primordial }).FullyQualifiedErrorId | Should -Be 'StorageWMI 48000,Update-StoragePool'
        (Get-WrittenError { Update-StoragePool Nobody }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Update-StoragePool'
    }
}
