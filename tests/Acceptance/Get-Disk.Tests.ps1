BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Get-Disk' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        Connect-TestDisk
    }

    AfterAll {
        Stop-TestSession
    }

    It 'lists a connected virtual disk, and its number outlives the host' {
        $before = Get-Disk
        $before.Number | Should -Be 1
        $before.UniqueId | Should -Be (Get-VirtualDisk Data).UniqueId
        $before.PSTypeNames[0] | Should -Be 'Microsoft.Management.Infrastructure.CimInstance#ROOT/Microsoft/Windows/Storage/MSFT_Disk'
        $null = Stop-TierSpacesHost
        (Get-Disk).Number | Should -Be 1
    }

    It 'shows the documented columns' {
        Get-Disk | Out-String -Width 200 | Should -Match 'Number\s+Friendly Name\s+Serial Number\s+HealthStatus\s+OperationalStatus\s+Total Size\s+Partition Style'
    }

    It 'has its number and its identifier also as the properties that parameters of other cmdlets are called' {
        Get-Disk | ForEach-Object DiskNumber | Should -Be 1
        (Get-Disk).DiskId | Should -Be (Get-VirtualDisk Data).UniqueId
        (Get-Disk | Get-Member DiskNumber).MemberType | Should -Be 'AliasProperty'
        Get-Disk | Initialize-Disk
        Get-Disk | Select-Object DiskNumber | New-Partition -Size 32MB | ForEach-Object DiskNumber | Should -Be 1
        (Get-Disk | Get-Partition).PartitionNumber | Should -Be 1
        (Get-Disk | Select-Object DiskId | Get-Partition).PartitionNumber | Should -Be 1
        Get-Disk | Remove-Partition -PartitionNumber 1 -Confirm:$false
        Get-Disk | Get-Partition | Should -BeNullOrEmpty
        Get-Disk | Clear-Disk -RemoveData -Confirm:$false
    }

    It 'lists no virtual disk that is not connected, and says so of one that is named' {
        Disconnect-VirtualDisk Data
        Get-Disk | Should -BeNullOrEmpty
        $failure = Get-WrittenError { Get-VirtualDisk Data | Get-Disk }
        $failure.Exception.Error.Word | Should -Be 'NotConnected'
        "$failure" | Should -Match 'Connect-VirtualDisk'
        Connect-VirtualDisk Data
    }

    It 'never sees a disk of the machine that is not ours, nor does what it is piped to' {
        $null = New-Item foreign.img
        $stream = [IO.File]::OpenWrite("$PWD/foreign.img"); $stream.SetLength(64MB); $stream.Dispose()
        $loop = losetup --find --show foreign.img
        try {
            mkfs.ext4 -q -L foreign $loop
            $before = (Get-FileHash foreign.img).Hash
            (Get-Disk).Location | Should -Not -Contain $loop
            (Get-Volume).Path | Should -Not -Contain $loop
            Get-Disk | Initialize-Disk
            Get-Disk | Clear-Disk -RemoveData -RemoveOEM -Confirm:$false
            (Get-WrittenError { Clear-Disk -Path $loop -RemoveData -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_Path,Clear-Disk'
            (Get-WrittenError { Format-Volume -Path $loop -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_Path,Format-Volume'
            (Get-FileHash foreign.img).Hash | Should -Be $before
        }
        finally {
            losetup --detach $loop
        }
    }
}
