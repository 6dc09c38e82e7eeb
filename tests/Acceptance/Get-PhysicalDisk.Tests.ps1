BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $disks = New-TestDisk 3
    $pool = New-TestPool
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-PhysicalDisk' {
    It 'carries the type names of its Windows class' {
        (Get-PhysicalDisk disk1).PSTypeNames | Should -Contain 'Microsoft.Management.Infrastructure.CimInstance#ROOT/Microsoft/Windows/Storage/MSFT_PhysicalDisk'
        (Get-PhysicalDisk disk1).PSTypeNames[0] | Should -BeLike '*#ROOT/Microsoft/Windows/Storage/MSFT_PhysicalDisk'
    }

    It 'selects by name, wildcard, identifier, state and object' {
        (Get-PhysicalDisk disk2).FriendlyName | Should -Be 'disk2'
        (Get-PhysicalDisk -FriendlyName 'disk*').Count | Should -Be 3
        (Get-PhysicalDisk -UniqueId $disks[0].UniqueId).FriendlyName | Should -Be 'disk1'
        (Get-PhysicalDisk -Id $disks[0].UniqueId).FriendlyName | Should -Be 'disk1'
        (Get-PhysicalDisk -CanPool $true).Count | Should -Be 3
        ($disks[1] | Get-PhysicalDisk).FriendlyName | Should -Be 'disk2'
        ($disks[2].UniqueId | Get-PhysicalDisk).FriendlyName | Should -Be 'disk3'
    }

    It 'lists the members of a pool from the pipeline' {
        ($pool | Get-PhysicalDisk).FriendlyName | Should -BeLike 'Pool1*'
        ($pool | Get-PhysicalDisk).Count | Should -Be 4
    }

    It 'gives every image file a serial number of its own and its path as its location, in a pool and out of it' {
        $known = Get-PhysicalDisk
        $known.SerialNumber | ForEach-Object { $_ | Should -Match '^[0-9A-F]{16}$' }
        ($known.SerialNumber | Select-Object -Unique).Count | Should -Be $known.Count
        $known | ForEach-Object { $_.PhysicalLocation | Should -Be $_.Path }
        (Get-PhysicalDisk -FriendlyName disk3 -SerialNumber $disks[2].SerialNumber).FriendlyName | Should -Be 'disk3'
        $null = New-StoragePool -FriendlyName Serial -StorageSubSystemFriendlyName 'Storage Spaces*' -PhysicalDisks $disks[2]
        (Get-PhysicalDisk disk3).SerialNumber | Should -Be $disks[2].SerialNumber
        $null = Stop-TierSpacesHost
        (Get-PhysicalDisk).SerialNumber | Should -Be $known.SerialNumber
        Remove-StoragePool Serial -Confirm:$false
        (Get-PhysicalDisk disk3).SerialNumber | Should -Be $disks[2].SerialNumber
    }

    It 'says why a disk cannot join a pool' {
        ($pool | Get-PhysicalDisk)[0].CannotPoolReason | Should -Be 'In a Pool'
    }

    It 'says by policy that <Bus> cannot join a pool, and <With> with -Force' -ForEach @(
        @{ Bus = 'RAID'; With = 'can'; Force = $true }
        @{ Bus = 'iSCSI'; With = 'cannot'; Force = $false }
        @{ Bus = 'FibreChannel'; With = 'cannot'; Force = $false }
    ) {
        $plain = New-PhysicalDisk "plain$Bus.img" 64MB -BusType $Bus -WarningVariable warned -WarningAction SilentlyContinue
        $plain.CanPool | Should -BeFalse
        $plain.CannotPoolReason | Should -Be 'Other'
        $plain.OtherCannotPoolReasonDescription | Should -BeLike "*its bus is $($plain.BusType)*"
        @($warned).Count | Should -Be ([int]($Bus -eq 'RAID'))
        $forced = New-PhysicalDisk "forced$Bus.img" 64MB -BusType $Bus -Force -WarningAction SilentlyContinue
        $forced.CanPool | Should -Be $Force
        Unregister-PhysicalDisk "plain$Bus", "forced$Bus"
    }

    It 'warns of USB when a disk is made and when it joins a pool' {
        $null = New-PhysicalDisk usb.img 256MB -BusType USB -WarningVariable warned -WarningAction SilentlyContinue
        "$warned" | Should -Match 'not for performance'
        Add-PhysicalDisk -StoragePoolFriendlyName Pool1 -PhysicalDisks (Get-PhysicalDisk usb) -WarningVariable warned -WarningAction SilentlyContinue
        "$warned" | Should -Match "not for performance.*'usb'"
        Remove-PhysicalDisk -StoragePoolFriendlyName Pool1 -PhysicalDisks (Get-PhysicalDisk usb) -Confirm:$false
        Unregister-PhysicalDisk usb
    }

    It 'prints the columns of Windows' {
        $lines = (Get-PhysicalDisk disk1 | Out-String -Width 200).Trim() -split '\r?\n'
        $lines[0] -split '\s+' | Should -Be 'Number', 'FriendlyName', 'SerialNumber', 'MediaType', 'CanPool', 'OperationalStatus', 'HealthStatus', 'Usage', 'Size'
        $lines[2] | Should -Match 'SSD\s+True\s+OK\s+Healthy\s+Auto-Select\s+256 MB$'
    }

    It 'returns nothing for a wildcard without a match' {
        Get-WrittenError { Get-PhysicalDisk 'nothing*' } | Should -BeNullOrEmpty
    }

    It 'refuses a name that does not exist' {
        $failure = Get-WrittenError { Get-PhysicalDisk -FriendlyName nothing }

        $failure.FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Get-PhysicalDisk'
        $failure.CategoryInfo.Category | Should -Be 'ObjectNotFound'
        "$failure" | Should -Be "No MSFT_PhysicalDisk objects found with property 'FriendlyName' equal to 'nothing'.  Verify the value of the property and retry."
    }

    It 'refuses an object of another class' {
        { Get-PhysicalDisk -InputObject $pool } | Should -Throw -ErrorId 'MismatchedPSTypeName*'
    }

    It 'says of a disk that is missing when it is looked for next and when it is given up' {
        $null = New-PhysicalDisk -Path e1.img, e2.img, e3.img, e4.img -Size 256MB -LatencyProfile NVMe
        $null = New-StoragePool -FriendlyName Emulated -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk e?)
        $null = New-VirtualDisk Emulated -FriendlyName OnEmulated -Size 64MB -ProvisioningType Fixed
        Set-EmulatedDiskFault e1 -Pull
        for ($i = 0; $i -lt 100 -and (Get-PhysicalDisk e1).OperationalStatus -ne 'Lost Communication'; $i++) { Start-Sleep -Milliseconds 100 }
        Start-Sleep 1
        (Get-PhysicalDisk e1).OperationalDetails |
            Should -Match '^It is missing. It is looked for again (within a second|in \d+ s); .* It is not given up without a command \(RetireMissingPhysicalDisks is Auto'
        Set-StoragePool Emulated -RetireMissingPhysicalDisks Always
        (Get-PhysicalDisk e1).OperationalDetails | Should -Match 'It is given up in (300|2\d\d) s: it is retired then'
        Set-EmulatedDiskFault e1 -Clear
        Remove-VirtualDisk OnEmulated -Confirm:$false
    }
}
