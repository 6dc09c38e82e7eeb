BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
}

AfterAll {
    Stop-TestSession
}

Describe 'Remove-StoragePool' {
    It 'refuses a pool with virtual disks' {
        $null = New-TestPool Full
        $null = New-VirtualDisk Full -FriendlyName Data -Size 64MB

        $failure = Get-WrittenError { Remove-StoragePool Full -Confirm:$false }

        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 48008,Remove-StoragePool'
        "$failure" | Should -BeLike '*Data*'
        Get-StoragePool Full | Should -Not -BeNullOrEmpty
    }

    It 'asks first' {
        (Get-Command Remove-StoragePool).Parameters.Keys | Should -Contain 'Confirm'
        $null = New-TestPool Asked
        Remove-StoragePool Asked -WhatIf
        Get-StoragePool Asked | Should -Not -BeNullOrEmpty
    }

    It 'gives the disks back' {
        $null = New-TestPool Gone
        Get-StoragePool Gone | Remove-StoragePool -Confirm:$false
        Get-StoragePool Gon* | Should -BeNullOrEmpty
        (Get-PhysicalDisk 'Gone*').CanPool | Should -Be $true, $true, $true, $true
    }

    It 'refuses a name that does not exist' {
        (Get-WrittenError { Remove-StoragePool nothing -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Remove-StoragePool'
    }
}
