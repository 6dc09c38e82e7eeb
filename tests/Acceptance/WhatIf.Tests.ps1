# What -WhatIf prints is what happens afterwards; -Verbose tells what happened; -Confirm asks.
BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-TestDisk 3 -Prefix spare

    # What a command line prints in a shell of its own, where "What if" is text like any other.
    function Get-Printed([string] $Line) {
        pwsh -NoProfile -NonInteractive -Command "Import-Module '$TestModule'; $Line"
    }

    # "disk column copy slabs" for each part of a placement that was printed.
    function Get-PrintedPlace([string[]] $Printed) {
        foreach ($line in $Printed -match 'Place on') {
            $disk = [regex]::Match($line, "physical disk '([^']+)'").Groups[1].Value
            foreach ($part in [regex]::Matches($line, 'column (\d+) copy (\d+): (\d+)')) { "$disk $($part.Groups[1]) $($part.Groups[2]) $($part.Groups[3])" }
        }
    }

    function Get-RealPlace($VirtualDisk) {
        $VirtualDisk | Get-PhysicalExtent | Group-Object PhysicalDiskUniqueId, ColumnNumber, CopyNumber | ForEach-Object {
            "$((Get-PhysicalDisk -UniqueId $_.Group[0].PhysicalDiskUniqueId).FriendlyName) $($_.Group[0].ColumnNumber) $($_.Group[0].CopyNumber) $($_.Count)"
        }
    }
}

AfterAll {
    Stop-TestSession
}

Describe '-WhatIf' {
    It 'places a virtual disk in words, changes nothing, and is right: <Given>' -ForEach @(
        @{ Given = '-Size 48MB -NumberOfColumns 2' }
        @{ Given = '-Size 20MB -ResiliencySettingName Simple -NumberOfColumns 3 -Interleave 64KB' }
        @{ Given = '-UseMaximumSize -NumberOfColumns 1' }
    ) {
        $printed = Get-Printed "New-VirtualDisk Pool1 -FriendlyName Planned $Given -WhatIf"
        $printed[0] | Should -BeLike "What if: Create virtual disk 'Planned' in storage pool 'Pool1': *column*cop*bytes*"
        Get-VirtualDisk Plan* | Should -BeNullOrEmpty

        $disk = Invoke-Expression "New-VirtualDisk Pool1 -FriendlyName Planned $Given"
        $printed[0] | Should -BeLike "*$($disk.NumberOfColumns) column$(if ($disk.NumberOfColumns -gt 1) { 's' }), $($disk.NumberOfDataCopies) cop$(if ($disk.NumberOfDataCopies -gt 1) { 'ies' } else { 'y' }), interleave $([TierSpaces.Cmdlets.Display]::Bytes($disk.Interleave)), $([TierSpaces.Cmdlets.Display]::Bytes($disk.Size)),*"
        Get-PrintedPlace $printed | Sort-Object | Should -Be (Get-RealPlace $disk | Sort-Object)

        (Get-Printed 'Remove-VirtualDisk Planned -WhatIf') -match 'Free on' | Should -HaveCount ($printed -match 'Place on').Count
        $disk | Remove-VirtualDisk -Confirm:$false
    }

    It 'is the same on the command line' {
        $program = Join-Path (Split-Path $TestModule) 'bin/host/tierspaces'
        $module = Get-Printed 'New-VirtualDisk Pool1 -FriendlyName Planned -Size 16MB -WhatIf'
        & $program New-VirtualDisk Pool1 -FriendlyName Planned -Size 16MB -WhatIf | Should -Be $module
    }

    It 'names the host of a verb about the host: <Line>' -ForEach @(
        @{ Line = 'Start-TierSpacesHost -WhatIf' }
        @{ Line = 'Stop-TierSpacesHost -WhatIf' }
    ) {
        $verb = $Line.Split(' ')[0]
        Get-Printed $Line | Should -Be "What if: Performing the operation `"$verb`" on target `"TierSpacesHost '$env:TIERSPACES_HOME'`"."
    }

    It 'says of a pool which disks it takes, and what it gives back' {
        $printed = Get-Printed 'New-StoragePool -FriendlyName New -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk spare?) -WhatIf'
        $printed -match "physical disk 'spare[123]' \(256 MB\): \d+ slabs" | Should -HaveCount 3
        $size = [regex]::Match($printed[0], ': ([\d.]+) (MB)$')
        $bytes = [double]$size.Groups[1].Value * 1MB
        $pool = New-StoragePool -FriendlyName New -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk spare?)
        $pool.Size | Should -Be $bytes
        (Get-Printed 'Remove-StoragePool New -WhatIf') -match "Give back physical disk 'spare" | Should -HaveCount 3
        $pool | Remove-StoragePool -Confirm:$false
    }

    It 'says what a repair would do, and begins none' {
        $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB -NumberOfColumns 1
        $jobs = @(Get-StorageJob).Count
        Get-Printed 'Get-VirtualDisk Data | Repair-VirtualDisk -WhatIf' | Should -Be "What if: Repair virtual disk 'Data': bring 0 bytes up to date and verify every copy"
        @(Get-StorageJob).Count | Should -Be $jobs
    }

    It 'writes the error that the real run would write: <Line>' -ForEach @(
        @{ Line = 'Reset-PhysicalDisk Pool11 -Confirm:$false'; Code = 51002 }
        @{ Line = 'Remove-PhysicalDisk -StoragePoolFriendlyName Pool1 -PhysicalDisks (Get-PhysicalDisk Pool11) -Confirm:$false'; Code = 51004 }
        @{ Line = 'Remove-PhysicalDisk -StoragePoolFriendlyName Pool1 -PhysicalDisks (Get-PhysicalDisk spare1) -Confirm:$false'; Code = 8 }
        @{ Line = 'Add-PhysicalDisk -StoragePoolFriendlyName Pool1 -PhysicalDisks (Get-PhysicalDisk Pool12)'; Code = 51002 }
        @{ Line = 'Unregister-PhysicalDisk Pool11'; Code = 51002 }
        @{ Line = 'Set-PhysicalDisk spare1 -Usage Retired'; Code = 5 }
        @{ Line = 'Set-EmulatedDiskFault spare1 -Pull'; Code = 5 }
        @{ Line = 'New-PhysicalDisk spare1.img -Size 256MB'; Code = 5 }
        @{ Line = 'New-PhysicalDisk other.img -Size 1000'; Code = 4097 }
        @{ Line = 'Register-PhysicalDisk nowhere.img'; Code = 5 }
    ) {
        $asked = Get-WrittenError ([scriptblock]::Create("$Line -WhatIf"))
        $done = Get-WrittenError ([scriptblock]::Create($Line))
        $done.FullyQualifiedErrorId | Should -Be "StorageWMI $Code,$($Line.Split(' ')[0])"
        $asked.FullyQualifiedErrorId, $asked.Exception.Message | Should -Be $done.FullyQualifiedErrorId, $done.Exception.Message
    }

    It 'writes the errors of what would be refused' {
        (Get-WrittenError { Remove-StoragePool Pool1 -WhatIf }).FullyQualifiedErrorId | Should -Be 'StorageWMI 48008,Remove-StoragePool'
        (Get-WrittenError { Resize-VirtualDisk Data -Size 1TB -WhatIf }).FullyQualifiedErrorId | Should -Be 'StorageWMI 40000,Resize-VirtualDisk'
    }
}

Describe '-Verbose' {
    It 'tells what was done, as -WhatIf had said it' {
        $said = (Get-Printed 'New-VirtualDisk Pool1 -FriendlyName Told -Size 16MB -WhatIf') -replace '^What if: '
        $told = New-VirtualDisk Pool1 -FriendlyName Told -Size 16MB -Verbose 4>&1 | Where-Object { $_ -is [System.Management.Automation.VerboseRecord] } | ForEach-Object Message
        $said | ForEach-Object { $told | Should -Contain $_ }
        $told = Set-VirtualDisk Told -NewFriendlyName Renamed -Verbose 4>&1
        $told.Message | Should -Contain "Set NewFriendlyName to 'Renamed' of virtual disk 'Told'"
    }
}

Describe '-Confirm' {
    It 'has a high impact for what destroys, and only for that' {
        $high = (Get-Command -Module TierSpaces -CommandType Cmdlet | Where-Object {
            ($_.ImplementingType.GetCustomAttributes([System.Management.Automation.CmdletAttribute], $false)).ConfirmImpact -eq 'High'
        }).Name
        $high | Sort-Object | Should -Be 'Clear-Disk', 'Format-Volume', 'Remove-Partition', 'Remove-PhysicalDisk', 'Remove-StoragePool', 'Remove-VirtualDisk', 'Reset-PhysicalDisk'
    }

    It 'asks for anything that changes state when told to, and a shell that cannot ask does nothing' {
        { Set-VirtualDisk Renamed -NewFriendlyName Other -Confirm -ErrorAction Stop } | Should -Throw
        Get-VirtualDisk Other* | Should -BeNullOrEmpty
    }

    It 'does not ask with -Confirm:$false' {
        Remove-VirtualDisk Renamed -Confirm:$false
        Get-VirtualDisk Rename* | Should -BeNullOrEmpty
    }
}
