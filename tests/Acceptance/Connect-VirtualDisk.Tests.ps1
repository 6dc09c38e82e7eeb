BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 64MB
}

AfterAll {
    Stop-TestSession
}

Describe 'Connect-VirtualDisk' {
    It 'answers nothing, or the disk with -PassThru' {
        Get-VirtualDisk Data | Connect-VirtualDisk | Should -BeNullOrEmpty
        $connected = Connect-VirtualDisk Data -PassThru

        $connected.FriendlyName | Should -Be 'Data'
        $connected.NbdUri | Should -BeLike 'nbd+unix:///*'
    }

    It 'serves the size of the virtual disk' {
        if (-not (Get-Command nbdinfo -ErrorAction Ignore)) {
            Set-ItResult -Skipped -Because 'nbdinfo is missing: apt-get install libnbd-bin'
            return
        }

        $disk = Get-VirtualDisk Data
        nbdinfo --size $disk.NbdUri | Should -Be $disk.Size
    }

    It 'says plainly why there is no block device where there is none' {
        $disk = Get-VirtualDisk Data
        if ($disk.DevicePath) {
            $disk.DevicePath | Should -Exist
        }
        else {
            $disk.AttachReason | Should -Not -BeNullOrEmpty
        }
    }

    It 'changes nothing with -WhatIf' {
        $null = New-VirtualDisk Pool1 -FriendlyName Idle -Size 32MB
        Connect-VirtualDisk Idle -WhatIf
        (Get-VirtualDisk Idle).NbdUri | Should -BeNullOrEmpty
    }

    It 'refuses a name that does not exist' {
        (Get-WrittenError { Connect-VirtualDisk nothing }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Connect-VirtualDisk'
    }
}

Describe 'Connect-VirtualDisk -AttachMethod' {
    AfterAll {
        Disconnect-VirtualDisk Data
        Connect-VirtualDisk Data -WarningAction SilentlyContinue
    }

    It 'makes no device where only the address is asked for' {
        Disconnect-VirtualDisk Data
        $disk = Connect-VirtualDisk Data -AttachMethod NbdUri -PassThru -WarningVariable said -WarningAction SilentlyContinue
        $disk.AttachMethod | Should -Be 'NbdUri'
        $disk.DevicePath | Should -BeNullOrEmpty
        $disk.AttachReason | Should -Match 'No block device: none was asked for'
        $said | Should -BeNullOrEmpty
    }

    It 'makes the device in the way that is asked for, and refuses another while it is there: <_>' -ForEach Fuse, NbdFuse {
        Disconnect-VirtualDisk Data
        $failure = Get-WrittenError { Connect-VirtualDisk Data -AttachMethod $_ -WarningAction SilentlyContinue }
        if ($failure) {
            "$failure" | Should -Match "-AttachMethod $_ cannot be used here"
            Set-ItResult -Skipped -Because "$failure"
            return
        }

        $disk = Get-VirtualDisk Data
        $disk.AttachMethod | Should -Be $_
        $disk.DevicePath | Should -Exist
        $other = if ($_ -eq 'Fuse') { 'NbdFuse' } else { 'Fuse' }
        $refused = Get-WrittenError { Connect-VirtualDisk Data -AttachMethod $other }
        $refused.FullyQualifiedErrorId | Should -Be 'StorageWMI 50003,Connect-VirtualDisk'
        (Get-VirtualDisk Data).AttachMethod | Should -Be $_
    }
}

Describe 'Connect-VirtualDisk -Force' {
    BeforeAll {
        $flash = New-PhysicalDisk -Path flash.img -Size 256MB -MediaType SSD
        $slow = New-PhysicalDisk -Path slow1.img, slow2.img -Size 256MB -MediaType HDD
        $null = New-StoragePool -FriendlyName Pool2 -StorageSubSystemFriendlyName 'Storage Spaces*' -PhysicalDisks (@($flash) + $slow)
        $null = New-VirtualDisk Pool2 -FriendlyName Cached -Size 32MB -ResiliencySettingName Simple -MediaType HDD -WriteCacheSize 8MB
        Set-VirtualDisk Cached -DestageHold $true
        Disconnect-VirtualDisk Data
        $null = Stop-TierSpacesHost
        Move-Item flash.img away.img
    }

    It 'is needed for a virtual disk whose write cache is lost' {
        $failure = Get-WrittenError { Connect-VirtualDisk Cached }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 50003,Connect-VirtualDisk'
        "$failure" | Should -Match 'no copy of it could be read'
        "$failure" | Should -Match 'Connect-VirtualDisk -Force'
        (Get-VirtualDiskWriteCache Cached).State | Should -Be 'Lost'
        (Get-VirtualDisk Cached).OperationalStatus | Should -Be 'Detached'
        Connect-VirtualDisk Cached -Force -WhatIf
        (Get-VirtualDiskWriteCache Cached).State | Should -Be 'Lost'
    }

    It 'says what is given up, and serves what is home' {
        Connect-VirtualDisk Cached -Force -WarningVariable said -WarningAction SilentlyContinue
        "$said" | Should -Match "write cache of virtual disk 'Cached' was given up: What it held cannot be known"
        (Get-VirtualDisk Cached).NbdUri | Should -BeLike 'nbd+unix:///*'
        (Get-VirtualDisk Cached).WriteCacheSize | Should -Be 0
        (Get-VirtualDisk Cached).HealthStatus | Should -Be 'Warning'
    }

    It 'changes nothing where nothing is lost' {
        Connect-VirtualDisk Data -Force -WarningVariable said -WarningAction SilentlyContinue
        "$said" | Should -Not -Match 'given up'
        (Get-VirtualDisk Data).NbdUri | Should -BeLike 'nbd+unix:///*'
    }
}

Describe 'Connect-VirtualDisk -Lane' {
    BeforeAll {
        Disconnect-VirtualDisk Data
        $null = Stop-TierSpacesHost
        $savedLanes = $env:TIERSPACES_LANES
        $env:TIERSPACES_LANES = 2
        $null = Start-TierSpacesHost
        $from = (Get-VirtualDisk Data).Lane
        $to = 3 - $from
    }

    AfterAll {
        $env:TIERSPACES_LANES = $savedLanes
    }

    It 'has the lanes that Get-TierSpacesHost shows' {
        (Get-TierSpacesHost).Lanes | Should -Be 2
        $from | Should -BeIn 1, 2
    }

    It 'refuses a lane that is not there: <_>' -ForEach 0, 3 {
        $failure = Get-WrittenError { Connect-VirtualDisk Data -Lane $_ }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Connect-VirtualDisk'
        "$failure" | Should -Match "-Lane $($_): out of range. Valid: 1 to 2"
        "$(Get-WrittenError { Connect-VirtualDisk Data -Lane $_ -WhatIf })" | Should -Match 'out of range'
        (Get-VirtualDisk Data).NbdUri | Should -BeNullOrEmpty
    }

    It 'changes nothing with -WhatIf' {
        Connect-VirtualDisk Data -Lane $to -WhatIf
        (Get-VirtualDisk Data).Lane | Should -Be $from
    }

    It 'serves the virtual disk on that lane' {
        $connected = Connect-VirtualDisk Data -Lane $to -PassThru -WarningAction SilentlyContinue
        $connected.Lane | Should -Be $to
        $connected.NbdUri | Should -BeLike 'nbd+unix:///*'
    }

    It 'refuses another lane while the virtual disk is connected' {
        $failure = Get-WrittenError { Connect-VirtualDisk Data -Lane $from }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 50003,Connect-VirtualDisk'
        "$failure" | Should -Match 'is connected on another lane'
        Connect-VirtualDisk Data -Lane $to -WarningAction SilentlyContinue
        (Get-VirtualDisk Data).Lane | Should -Be $to
    }
}
