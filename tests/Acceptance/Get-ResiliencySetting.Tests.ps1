BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-TestPool Pool2 2
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-ResiliencySetting' {
    It 'lists the settings of every pool, or of one' {
        @(Get-ResiliencySetting -Name Simple).Count | Should -Be 2
        (Get-StoragePool Pool1 | Get-ResiliencySetting).Name | Should -Be 'Simple', 'Mirror', 'Parity'
        (Get-ResiliencySetting -StoragePool (Get-StoragePool Pool2) -Name m*).Name | Should -Be 'Mirror'
        Get-StoragePool Pool1 | Get-ResiliencySetting | Out-String -Width 200 | Should -Match 'Parity\s+1\s+1\s+Auto\s+256 KB'
    }

    It 'finds one by its identifier, and leads back to its pool' {
        $mirror = Get-StoragePool Pool2 | Get-ResiliencySetting -Name Mirror
        (Get-ResiliencySetting -UniqueId $mirror.UniqueId).Description | Should -BeLike '*Pool2*'
        ($mirror | Get-StoragePool).FriendlyName | Should -Be 'Pool2'
    }

    It 'has the ranges that New-VirtualDisk keeps to' {
        $mirror = Get-StoragePool Pool1 | Get-ResiliencySetting -Name Mirror
        $mirror.NumberOfDataCopiesMin, $mirror.NumberOfDataCopiesMax | Should -Be 2, 3
        (Get-WrittenError { New-VirtualDisk Pool1 -FriendlyName X -Size 8MB -NumberOfDataCopies ($mirror.NumberOfDataCopiesMax + 1) }).FullyQualifiedErrorId |
            Should -Be 'StorageWMI 49003,New-VirtualDisk'
        (Get-WrittenError { New-VirtualDisk Pool1 -FriendlyName X -Size 8MB -Interleave ($mirror.InterleaveMin / 2) }).FullyQualifiedErrorId |
            Should -Be 'StorageWMI 49005,New-VirtualDisk'
    }

    It 'names a setting that is not there' {
        (Get-WrittenError { Get-ResiliencySetting -Name Raid6 }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_Name,Get-ResiliencySetting'
    }
}
