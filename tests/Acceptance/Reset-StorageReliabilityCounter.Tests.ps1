BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-PhysicalDisk -Path e1.img, e2.img -Size 128MB -LatencyProfile NVMe
    $null = New-StoragePool -FriendlyName Pool1 -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk e?)
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 8MB
    Set-EmulatedDiskFault e1 -BitFlipsPerMillion 1000000
    Repair-VirtualDisk Data -WarningAction Ignore -ErrorAction Ignore
    Set-EmulatedDiskFault e1 -Clear
}

AfterAll {
    Stop-TestSession
}

Describe 'Reset-StorageReliabilityCounter' {
    It 'takes counters, disks and -PassThru, and sets to zero' {
        Get-PhysicalDisk e2 | Reset-StorageReliabilityCounter | Should -BeNullOrEmpty
        $reset = Get-PhysicalDisk e1 | Get-StorageReliabilityCounter | Reset-StorageReliabilityCounter -PassThru
        $reset.ChecksumMismatches, $reset.ReadErrorsTotal, $reset.ReadLatencyMax | Should -Be 0, 0, 0
        (Get-PhysicalDisk e1 | Get-StorageReliabilityCounter).ChecksumMismatches | Should -Be 0
    }

    It 'names a disk that is not there' {
        $gone = Get-PhysicalDisk e1
        $gone.UniqueId = 'absent'
        (Get-WrittenError { Reset-StorageReliabilityCounter -PhysicalDisk $gone }).FullyQualifiedErrorId |
            Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Reset-StorageReliabilityCounter'
    }
}
