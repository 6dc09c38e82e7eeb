# What a shell says of a command that waits for a storage job and is stopped.
BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-PhysicalDisk -Path s1.img, s2.img -Size 256MB -LatencyProfile HDD7200
    $null = New-StoragePool -FriendlyName Pool1 -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk s?)
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 64MB
    Get-PhysicalDisk s? | Set-EmulatedDiskFault -SlowFactor 25   # stopping waits for pieces that are under way

    function Wait-RunningJob {
        for ($i = 0; $i -lt 300 -and -not (Get-StorageJob -JobState Running); $i++) {
            Start-Sleep -Milliseconds 100
        }

        Get-StorageJob -JobState Running
    }
}

AfterAll {
    Get-PhysicalDisk s? | Set-EmulatedDiskFault -Clear
    Stop-TestSession
}

Describe 'A command that is stopped while it waits for a storage job' {
    AfterEach {
        Get-StorageJob -JobState Running | Stop-StorageJob -Confirm:$false
    }

    It 'says after Ctrl-C that the job goes on: <Line>' -ForEach @(
        @{ Line = 'Repair-VirtualDisk Data'; Verb = 'Repair-VirtualDisk' }
        @{ Line = 'Get-VirtualDisk Data | Repair-VirtualDisk -Verbose'; Verb = 'Repair-VirtualDisk' }
    ) {
        # Ctrl-C is a key of a terminal: script(1) is one. It does not answer where its cursor is, which the shell asks for before it shows progress.
        $start = [Diagnostics.ProcessStartInfo]::new('script')
        $script = "`$ProgressPreference = 'SilentlyContinue'; Import-Module '$TestModule'; $Line; 'not here'"
        $encoded = [Convert]::ToBase64String([Text.Encoding]::Unicode.GetBytes($script))
        foreach ($word in '-q', '-c', "stty cols 500; exec env --default-signal=INT pwsh -NoProfile -EncodedCommand $encoded", '/dev/null') {
            $start.ArgumentList.Add($word)
        }

        $start.RedirectStandardInput = $start.RedirectStandardOutput = $true
        $terminal = [Diagnostics.Process]::Start($start)
        $output = $terminal.StandardOutput.ReadToEndAsync()
        $job = Wait-RunningJob
        Start-Sleep 2   # it is waiting, and would show its progress
        $terminal.StandardInput.Write([char] 3)
        $terminal.StandardInput.Flush()
        $terminal.WaitForExit(20000) | Should -BeTrue
        $shown = $output.Result
        $shown | Should -Match "WARNING:.* $Verb was interrupted; its storage job goes on: 'Repairs virtual disk Data' \(Repair $([regex]::Escape($job.UniqueId))"
        $shown | Should -Match 'Get-StorageJob shows it, Stop-StorageJob stops it\.'
        $shown | Should -Not -Match 'not here'
        (Get-StorageJob -JobState Running).UniqueId | Should -Be $job.UniqueId
    }

    It 'says so of a job of the shell that is stopped' {
        $shellJob = Repair-VirtualDisk Data -AsJob
        $job = Wait-RunningJob
        $shellJob | Stop-Job
        $shellJob.State | Should -Be 'Stopped'
        $shellJob.Warning.Message | Should -Match "^Repair-VirtualDisk was interrupted; its storage job goes on: 'Repairs virtual disk Data'"
        (Get-StorageJob -JobState Running).UniqueId | Should -Be $job.UniqueId
        $shellJob | Remove-Job
    }

    It 'says of a change without a storage job that the host completes it' {
        $shellJob = New-VirtualDisk Pool1 -FriendlyName Other -Size 8MB -AsJob
        $shellJob | Stop-Job
        $shellJob.State | Should -Be 'Stopped'
        $shellJob.Warning.Message | Should -Be 'New-VirtualDisk was interrupted; the host completes a change that it has begun.'
        $shellJob | Remove-Job
    }

    It 'says nothing of a command that only reads' {
        $shellJob = Get-VirtualDisk -AsJob
        $shellJob | Stop-Job
        $shellJob.Warning | Should -BeNullOrEmpty
        $shellJob | Remove-Job
    }
}
