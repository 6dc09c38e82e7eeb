# What the Tab key offers, asked as a shell asks.
BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-TestDisk 2 -Prefix spare
    $null = New-PhysicalDisk -Path odd.img -Size 128MB -FriendlyName "it's odd"
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 16MB

    function Get-Completion([string] $Line) {
        (TabExpansion2 -inputScript $Line -cursorColumn $Line.Length).CompletionMatches.CompletionText
    }
}

AfterAll {
    Stop-TestSession
}

Describe 'Completion' {
    It 'offers <Expected> for "<Line>"' -ForEach @(
        @{ Line = 'Get-StoragePool Po'; Expected = 'Pool1' }
        @{ Line = 'Get-StoragePool -FriendlyName po'; Expected = 'Pool1' }
        @{ Line = 'Get-StoragePool -Name Po'; Expected = 'Pool1' }
        @{ Line = 'Remove-StoragePool Pool'; Expected = 'Pool1' }
        @{ Line = 'New-VirtualDisk Pool1 -FriendlyName x -CachePool po'; Expected = 'Pool1' }
        @{ Line = 'Get-VirtualDisk D'; Expected = 'Data' }
        @{ Line = "Get-VirtualDisk 'D"; Expected = 'Data' }
        @{ Line = 'Get-VirtualDisk nothing, D'; Expected = 'Data' }
        @{ Line = 'TierSpaces\Get-VirtualDisk D'; Expected = 'Data' }
        @{ Line = 'Get-PhysicalDisk -FriendlyName spare'; Expected = 'spare1 spare2' }
        @{ Line = 'Get-PhysicalDisk it'; Expected = "'it''s odd'" }
        @{ Line = 'New-VirtualDisk -StoragePoolFriendlyName Po'; Expected = 'Pool1' }
        @{ Line = 'New-VirtualDisk Po'; Expected = 'Pool1' }
        @{ Line = 'Add-PhysicalDisk -StoragePoolFriendlyName Po'; Expected = 'Pool1' }
        @{ Line = 'New-VirtualDisk Pool1 -ResiliencySettingName '; Expected = 'Simple Mirror Parity' }
        @{ Line = 'New-VirtualDisk Pool1 -ResiliencySetting M'; Expected = 'Mirror' }
        @{ Line = 'New-VirtualDisk Pool1 -ResiliencySetting P'; Expected = 'Parity' }
        @{ Line = 'Set-StoragePool Pool1 -ResiliencySettingNameDefault S'; Expected = 'Simple' }
        @{ Line = 'New-PhysicalDisk -LatencyProfile NV'; Expected = 'NVMe' }
        @{ Line = 'Register-PhysicalDisk x.img -LatencyProfile hdd1'; Expected = 'HDD10K HDD15K' }
        @{ Line = 'New-VirtualDisk -LogicalSectorSize '; Expected = '512 4096' }
        @{ Line = 'New-VirtualDisk -ProvisioningType T'; Expected = 'Thin' }
        @{ Line = 'Set-PhysicalDisk x -Usage Hot'; Expected = 'HotSpare' }
        @{ Line = 'Get-StorageJob -Name R'; Expected = 'Repair' }
        @{ Line = 'Get-ResiliencySetting -Name M'; Expected = 'Mirror' }
        @{ Line = 'Get-StoragePool -CimSession l'; Expected = 'localhost' }
        @{ Line = 'Get-PhysicalDisk | Sort-Object Usa'; Expected = 'Usage' }
        @{ Line = 'Get-VirtualDisk Data | Where-Object Footpr'; Expected = 'FootprintOnPool' }
        @{ Line = 'New-VirtualDisk Pool1 | Select-Object ResiliencyS'; Expected = 'ResiliencySettingName' }
        @{ Line = 'Get-StoragePool Pool1 | Format-Table AllocatedS'; Expected = 'AllocatedSize' }
        @{ Line = 'Get-VirtualDiskSupportedSize Pool1 | Select-Object VirtualDiskSizeMi'; Expected = 'VirtualDiskSizeMin' }
    ) {
        (Get-Completion $Line) -join ' ' | Should -BeExactly $Expected
    }

    It 'offers the command that fetches an object, and the line then works' {
        $text = Get-Completion 'Get-PhysicalDisk -StoragePool Pool'
        $text | Should -BeLike '(Get-StoragePool -UniqueId *'
        @(Invoke-Expression "Get-PhysicalDisk -StoragePool $text").Count | Should -Be 4
        (Get-Completion 'New-StoragePool -PhysicalDisks spare1') | Should -Be "(Get-PhysicalDisk -UniqueId '$((Get-PhysicalDisk spare1).UniqueId)')"
    }

    It 'offers identifiers by the name of the object' {
        Get-Completion 'Get-VirtualDisk -UniqueId Data' | Should -Be (Get-VirtualDisk Data).UniqueId
    }

    It 'completes paths as everywhere' {
        Get-Completion 'Register-PhysicalDisk -Path ./spare' | ForEach-Object { Split-Path -Leaf $_ } | Should -Be 'spare1.img', 'spare2.img'
    }

    It 'offers no name that is to be given' {
        Get-Completion 'New-VirtualDisk Pool1 -FriendlyName D' | Should -Not -Contain 'Data'
        Get-Completion 'Set-VirtualDisk Data -NewFriendlyName D' | Should -Not -Contain 'Data'
    }

    It 'starts no host, says nothing and is quick without one' {
        $null = Stop-TierSpacesHost
        $watch = [Diagnostics.Stopwatch]::StartNew()
        Get-Completion 'Get-StoragePool Po' | Should -Not -Contain 'Pool1'
        $watch.Elapsed.TotalSeconds | Should -BeLessThan 3
        { Get-TierSpacesHost } | Should -Throw -ErrorId 'StorageWMI 5,Get-TierSpacesHost'
    }

    It 'waits no longer than a moment for a host that does not answer' {
        $process = (Start-TierSpacesHost).ProcessId
        kill -STOP $process
        try {
            $watch = [Diagnostics.Stopwatch]::StartNew()
            Get-Completion 'Get-StoragePool Po' | Should -Not -Contain 'Pool1'
            $watch.Elapsed.TotalSeconds | Should -BeLessThan 5
        }
        finally {
            kill -CONT $process
        }
    }
}
