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
