BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
}

AfterAll {
    Stop-TestSession
}

Describe 'Remove-VirtualDisk' {
    It 'removes by name and gives the space back' {
        $before = (Get-StoragePool Pool1).AllocatedSize
        $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 64MB
        Remove-VirtualDisk Data -Confirm:$false

        Get-VirtualDisk Dat* | Should -BeNullOrEmpty
        (Get-StoragePool Pool1).AllocatedSize | Should -Be $before
    }

    It 'names disks from the pipeline by identifier, so that a name that two pools use is no trap' {
        $null = New-TestPool Pool2
        $keep = New-VirtualDisk Pool1 -FriendlyName Twin -Size 32MB
        $gone = New-VirtualDisk Pool2 -FriendlyName Twin -Size 32MB

        $gone | Remove-VirtualDisk -Confirm:$false

        (Get-VirtualDisk Twin).UniqueId | Should -Be $keep.UniqueId
    }

    It 'does nothing with -WhatIf' {
        $null = New-VirtualDisk Pool1 -FriendlyName Kept -Size 32MB
        Get-VirtualDisk Kept | Remove-VirtualDisk -WhatIf
        Get-VirtualDisk Kept | Should -Not -BeNullOrEmpty
    }

    It 'does not go on unasked in a non-interactive session' {
        $null = New-VirtualDisk Pool1 -FriendlyName Asked -Size 32MB
        { Remove-VirtualDisk Asked -ErrorAction Stop } | Should -Throw
        Get-VirtualDisk Asked | Should -Not -BeNullOrEmpty
    }

    It 'refuses a name that does not exist' {
        (Get-WrittenError { Remove-VirtualDisk nothing -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Remove-VirtualDisk'
    }
}
