BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
}

AfterAll {
    Stop-TestSession
}

Describe 'New-PhysicalDisk' {
    It 'creates image files in the current location, by position' {
        $disks = New-PhysicalDisk a.img, b.img 128MB

        $disks.FriendlyName | Should -Be 'a', 'b'
        $disks.Size | Should -Be 128MB, 128MB
        $disks.CanPool | Should -Be $true, $true
        (Get-Item (Join-Path $SessionFolder 'a.img')).Length | Should -Be 128MB
    }

    It 'prefers the parameters to the values that the system reports' {
        $disk = New-PhysicalDisk -Path c.img -Size 128MB -MediaType HDD -SpindleSpeed 7200 -BusType SAS -LogicalSectorSize 512 -PhysicalSectorSize 4096 -FriendlyName Slow

        $disk.FriendlyName | Should -Be 'Slow'
        $disk.MediaType | Should -Be 'HDD'
        $disk.SpindleSpeed | Should -Be 7200
        $disk.BusType | Should -Be 'SAS'
        $disk.LogicalSectorSize, $disk.PhysicalSectorSize | Should -Be 512, 4096
    }

    It 'creates nothing with -WhatIf' {
        New-PhysicalDisk -Path never.img -Size 128MB -WhatIf
        'never.img' | Should -Not -Exist
    }

    It 'refuses a file that exists and leaves it alone' {
        Set-Content -Path there.img -Value 'precious'

        $failure = Get-WrittenError { New-PhysicalDisk -Path there.img -Size 128MB }

        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 5,New-PhysicalDisk'
        "$failure" | Should -BeLike '*there.img*'
        Get-Content there.img | Should -Be 'precious'
    }

    It 'refuses a size of nothing' {
        $failure = Get-WrittenError { New-PhysicalDisk -Path zero.img -Size 0 }

        $failure.FullyQualifiedErrorId | Should -BeLike 'StorageWMI *,New-PhysicalDisk'
        'zero.img' | Should -Not -Exist
    }
}
