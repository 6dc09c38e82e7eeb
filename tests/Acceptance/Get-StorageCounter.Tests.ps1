BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB
    $null = New-VirtualDisk Pool1 -FriendlyName Idle -Size 32MB
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StorageCounter' {
    It 'lists virtual and physical disks, or those it is given' {
        (Get-StorageCounter | Where-Object ObjectType -EQ VirtualDisk).FriendlyName | Sort-Object | Should -Be 'Data', 'Idle'
        (Get-StorageCounter | Where-Object ObjectType -EQ PhysicalDisk).Count | Should -Be 4
        (Get-StorageCounter (Get-VirtualDisk Data)).FriendlyName | Should -Be 'Data'
        (Get-PhysicalDisk Pool1? | Get-StorageCounter).Count | Should -Be 4
    }

    It 'counts what a client writes, and on the disks below it twice as much' {
        if (-not (Get-Command nbdcopy -ErrorAction Ignore)) {
            Set-ItResult -Skipped -Because 'nbdcopy is missing: apt-get install libnbd-bin'
            return
        }

        $below = (Get-PhysicalDisk Pool1? | Get-StorageCounter | Measure-Object WriteBytes -Sum).Sum
        Connect-VirtualDisk Data -WarningAction Ignore
        [IO.File]::WriteAllBytes("$SessionFolder/noise", [Security.Cryptography.RandomNumberGenerator]::GetBytes(8MB))
        $before = (Get-VirtualDisk Data | Get-StorageCounter).WriteBytes
        nbdcopy "$SessionFolder/noise" (Get-VirtualDisk Data).NbdUri
        ((Get-VirtualDisk Data | Get-StorageCounter).WriteBytes - $before) | Should -Be 8MB
        Disconnect-VirtualDisk Data
        ((Get-PhysicalDisk Pool1? | Get-StorageCounter | Measure-Object WriteBytes -Sum).Sum - $below) | Should -BeGreaterOrEqual 16MB
        (Get-VirtualDisk Idle | Get-StorageCounter).WriteBytes | Should -Be 0
    }

    It 'has a class of latencies for each bound and one more' {
        $counter = Get-VirtualDisk Data | Get-StorageCounter
        $counter.WriteLatency.Count | Should -Be ($counter.LatencyBoundsUs.Count + 1)
        ($counter.WriteLatency | Measure-Object -Sum).Sum | Should -Be $counter.Writes
    }
}
