BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Get-PartitionSupportedSize' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'returns sizes that can be had, and no smaller one' {
        $size = Get-PartitionSupportedSize -DriveLetter E
        Resize-Partition -DriveLetter E -Size $size.SizeMin
        (Get-Partition -DriveLetter E).Size | Should -Be $size.SizeMin
        (Get-WrittenError { Resize-Partition -DriveLetter E -Size ($size.SizeMax + 1MB) }).FullyQualifiedErrorId | Should -Be 'StorageWMI 4097,Resize-Partition'
        Resize-Partition -DriveLetter E -Size $size.SizeMax
        (Get-Partition -DriveLetter E).Size | Should -Be $size.SizeMax
    }
}
