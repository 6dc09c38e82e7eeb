BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Resize-Partition' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'grows and shrinks a volume, and its files stay' {
        Resize-Partition -DriveLetter E -Size 500MB
        (Get-Volume E).Size | Should -BeGreaterThan 400MB
        Resize-Partition -DriveLetter E -Size 100MB
        (Get-Volume E).Size | Should -BeLessThan 100MB
        Get-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT E/file) | Should -Be 'text'
        Repair-Volume E -OfflineScanAndFix | Should -Be 'NoErrorsFound'
    }

    It 'follows a virtual disk that was made larger' {
        Resize-Partition -DriveLetter E -Size (Get-PartitionSupportedSize -DriveLetter E).SizeMax
        (Get-Partition -DriveLetter E).Size | Should -BeGreaterThan 600MB
    }

    It 'grows xfs while it is mounted and refuses to shrink it' {
        Clear-Disk 1 -RemoveData -Confirm:$false
        Initialize-Disk 1
        $null = New-Partition 1 -Size 320MB -DriveLetter X | Format-Volume -FileSystem xfs -Confirm:$false
        Resize-Partition -DriveLetter X -Size 500MB
        (Get-Volume X).Size | Should -BeGreaterThan 400MB
        "$(Get-WrittenError { Resize-Partition -DriveLetter X -Size 400MB })" | Should -Match 'xfs cannot be made smaller'
    }
}
