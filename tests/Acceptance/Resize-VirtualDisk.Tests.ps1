BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 16MB
    $null = New-VirtualDisk Pool1 -FriendlyName Thin -Size 16MB -ProvisioningType Thin
}

AfterAll {
    Stop-TestSession
}

Describe 'Resize-VirtualDisk' {
    It 'grows to whole rows and gives a fixed disk its slabs' {
        $disk = Resize-VirtualDisk Data -Size 33MB -PassThru
        $disk.Size | Should -BeGreaterOrEqual 33MB
        ($disk | Get-PhysicalExtent | Measure-Object Size -Sum).Sum | Should -Be (2 * $disk.Size)
    }

    It 'gives a thin disk none' {
        (Get-VirtualDisk Thin | Resize-VirtualDisk -Size 4GB -PassThru).Size | Should -Be 4GB
        (Get-VirtualDisk Thin).AllocatedSize | Should -Be 0
    }

    It 'changes nothing with -WhatIf' {
        $before = (Get-VirtualDisk Data).Size
        Resize-VirtualDisk Data -Size 128MB -WhatIf
        (Get-VirtualDisk Data).Size | Should -Be $before
    }

    It 'refuses to shrink with <Code>, and to grow beyond the pool, saying how many disks are missing' -ForEach @{ Code = 4097 } {
        $before = (Get-VirtualDisk Data).Size
        (Get-WrittenError { Resize-VirtualDisk Data -Size 8MB }).FullyQualifiedErrorId | Should -Be "StorageWMI $Code,Resize-VirtualDisk"
        $failure = Get-WrittenError { Resize-VirtualDisk Data -Size 10GB }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 40000,Resize-VirtualDisk'
        "$failure" | Should -BeLike '*Add * disks*'
        (Get-VirtualDisk Data).Size | Should -Be $before
    }

    It 'says that no number of disks makes room where a pool could not have them all' {
        $before = (Get-VirtualDisk Data).Size
        $failure = Get-WrittenError { Resize-VirtualDisk Data -Size 100GB }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 40000,Resize-VirtualDisk'
        "$failure" | Should -BeLike '*Give a smaller size: a pool has at most 512 disks, and * more*'
        "$failure" | Should -Not -BeLike '*Add * disks*'
        (Get-VirtualDisk Data).Size | Should -Be $before
    }
}
