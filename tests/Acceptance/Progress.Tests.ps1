# What a shell shows while a command takes its time.
BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-PhysicalDisk -Path s1.img, s2.img -Size 256MB -LatencyProfile HDD7200
    $null = New-StoragePool -FriendlyName Pool1 -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk s?)
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 64MB

    # The progress records of a command line in a shell of its own.
    function Get-Progress([string] $Line) {
        $shell = [powershell]::Create()
        try {
            $null = $shell.AddScript("Import-Module '$TestModule'; $Line").Invoke()
            $shell.Streams.Progress | ForEach-Object { $_ }
        }
        finally {
            $shell.Dispose()
        }
    }
}

AfterAll {
    Get-PhysicalDisk s? | Set-EmulatedDiskFault -Clear
    Stop-TestSession
}

Describe 'Progress' {
    It 'is silent where a command is quick' {
        Get-Progress 'Get-VirtualDisk' | Should -BeNullOrEmpty
    }

    It 'shows how far the job is that a command waits for, and ends' {
        Get-PhysicalDisk s? | Set-EmulatedDiskFault -SlowFactor 12
        $records = @(Get-Progress 'Repair-VirtualDisk Data')
        Get-PhysicalDisk s? | Set-EmulatedDiskFault -Clear
        $records.Count | Should -BeGreaterThan 1
        $records[0].Activity | Should -Be 'Repair-VirtualDisk'
        $records.StatusDescription | Should -Contain 'Repairs virtual disk Data'
        ($records | Where-Object PercentComplete -GE 0).Count | Should -BeGreaterThan 0
        $records[-1].RecordType | Should -Be 'Completed'
    }

    It 'is not shown for a job of the shell' {
        Get-PhysicalDisk s? | Set-EmulatedDiskFault -SlowFactor 12
        $records = Get-Progress 'Repair-VirtualDisk Data -AsJob | Wait-Job | Receive-Job'
        Get-PhysicalDisk s? | Set-EmulatedDiskFault -Clear
        $records | Should -BeNullOrEmpty
    }
}
