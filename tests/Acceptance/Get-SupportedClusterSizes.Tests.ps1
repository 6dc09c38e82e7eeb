BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Get-SupportedClusterSizes' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'returns sizes that Format-Volume takes, and it takes no other' {
        foreach ($size in Get-SupportedClusterSizes E -FileSystem ext4) {
            (Format-Volume E -AllocationUnitSize $size -Force -Confirm:$false).AllocationUnitSize | Should -Be $size
        }

        (Get-WrittenError { Format-Volume E -AllocationUnitSize 3000 -Force -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'StorageWMI 43000,Format-Volume'
    }
}
