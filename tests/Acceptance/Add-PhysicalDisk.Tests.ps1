BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $pool = New-TestPool
}

AfterAll {
    Stop-TestSession
}

Describe 'Add-PhysicalDisk and Remove-PhysicalDisk' {
    It 'grows the pool' {
        Add-PhysicalDisk -StoragePoolFriendlyName Pool1 -PhysicalDisks (New-TestDisk 1 -Prefix more)
        (Get-StoragePool Pool1 | Get-PhysicalDisk).Count | Should -Be 5
        (Get-StoragePool Pool1).Size | Should -BeGreaterThan $pool.Size
    }

    It 'takes the pool from the pipeline and a usage' {
        $pool | Add-PhysicalDisk -PhysicalDisks (New-TestDisk 1 -Prefix spare) -Usage HotSpare
        (Get-PhysicalDisk spare1).Usage | Should -Be 'Hot Spare'
    }

    It 'removes an empty disk, which can be pooled again' {
        $pool | Remove-PhysicalDisk -PhysicalDisks (Get-PhysicalDisk more1) -Confirm:$false
        (Get-PhysicalDisk more1).CanPool | Should -Be $true
    }

    It 'does not add with -WhatIf' {
        $pool | Add-PhysicalDisk -PhysicalDisks (Get-PhysicalDisk more1) -WhatIf
        (Get-PhysicalDisk more1).CanPool | Should -Be $true
    }

    It 'refuses a disk that is in a pool' {
        $failure = Get-WrittenError { $pool | Add-PhysicalDisk -PhysicalDisks (Get-PhysicalDisk Pool11) }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 51002,Add-PhysicalDisk'
    }

    It 'warns of a 4Kn disk where virtual disks have sectors of 512 bytes, and of no other' {
        $null = New-PhysicalDisk 4kn.img 256MB -LogicalSectorSize 4096
        $null = New-TestDisk 1 -Prefix plain
        $small = New-StoragePool -StorageSubSystemFriendlyName * -FriendlyName Small -PhysicalDisks (New-TestDisk 2 -Prefix small) -LogicalSectorSizeDefault 512
        Add-PhysicalDisk -StoragePool $small -PhysicalDisks (Get-PhysicalDisk plain1) -WarningVariable warned -WarningAction SilentlyContinue
        $warned | Should -BeNullOrEmpty
        Add-PhysicalDisk -StoragePool $small -PhysicalDisks (Get-PhysicalDisk 4kn) -WarningVariable warned -WarningAction SilentlyContinue
        "$warned" | Should -Match "sectors of 4096 bytes: '4kn'"
    }
}
