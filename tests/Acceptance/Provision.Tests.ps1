# The examples docs/examples/provision.ps1 and provision.sh: each runs twice in a row on a machine without a host, and leaves nothing behind.
BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Provisioning example' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        $folder = Join-Path ([IO.Path]::GetTempPath()) "pv$PID"
        $null = New-Item -ItemType Directory $folder
        $savedFolder, $env:TMPDIR = $env:TMPDIR, $folder
        $savedPath, $env:PATH = $env:PATH, "$(Join-Path (Split-Path $TestModule) bin/host):$env:PATH"
        $examples = Join-Path $PSScriptRoot '../../docs/examples'

        # The example as it is, with the module that is tested.
        $script = (Get-Content -Raw $examples/provision.ps1).Replace("(Join-Path `$PSScriptRoot '../../TierSpaces.psd1')", "'$TestModule'")
        $script | Should -BeLike "*Import-Module '$TestModule'*"

        # Whatever the run of an example has left: mounts, loop devices, processes and files of its folder, once processes that end have had time to.
        function Get-Remains {
            $limit = (Get-Date).AddSeconds(10)
            do {
                $remains = @(
                    Get-Content /proc/mounts | Where-Object { $_ -like "*$folder/*" }
                    losetup --list --noheadings --output NAME,BACK-FILE | Where-Object { $_ -like "*$folder/*" }
                    Get-ChildItem /proc -Directory | Where-Object { $_.Name -match '^\d+$' -and $_.Name -ne $PID } | ForEach-Object {
                        $words = "$(Get-Content -Raw "/proc/$($_.Name)/cmdline" -ErrorAction Ignore) $(Get-Content -Raw "/proc/$($_.Name)/environ" -ErrorAction Ignore)"
                        if ($words -like "*$folder/*") { "process $($_.Name): $words" }
                    }
                    Get-ChildItem $folder -Recurse -Force | ForEach-Object FullName)
            } while ($remains -and (Get-Date) -lt $limit -and -not (Start-Sleep -Milliseconds 200))
            $remains
        }
    }

    AfterAll {
        $env:TMPDIR, $env:PATH = $savedFolder, $savedPath
        Remove-Item -Recurse -Force $folder
    }

    It 'runs in PowerShell, for the <_> time' -ForEach 'first', 'second' {
        Set-Content $folder/script.ps1 $script
        $said = pwsh -NoProfile -NonInteractive -File $folder/script.ps1 2>&1 | Out-String -Width 200
        $LASTEXITCODE | Should -Be 0 -Because $said
        Remove-Item $folder/script.ps1
        $said | Should -Not -Match 'WARNING|error'
        $said | Should -Match 'E\s+Databases\s+ext4\s+Healthy'
        $said | Should -Match 'F\s+Archive\s+xfs\s+Healthy'
        $said | Should -Match 'L\s+Logs\s+ext4'
        $said | Should -Match 'index\.dat\s+Databases_Fast'
        $said | Should -Match 'old\.dat\s+Databases_Slow'
        Get-Remains | Should -BeNullOrEmpty
    }

    It 'runs with the command line, for the <_> time' -ForEach 'first', 'second' {
        $said = sh $examples/provision.sh 2>&1 | Out-String -Width 200
        $LASTEXITCODE | Should -Be 0 -Because $said
        $said | Should -Not -Match 'WARNING|error'
        $said | Should -Match 'E\s+Databases\s+ext4\s+Fixed\s+Healthy\s+OK'
        $said | Should -Match 'F\s+Archive\s+XFS\s+Fixed\s+Healthy\s+OK'
        $said | Should -Match 'L\s+Logs\s+ext4'
        $said | Should -Match 'index\.dat\s+Databases_Fast\s+Completely on tier'
        $said | Should -Match 'old\.dat\s+Databases_Slow\s+Completely on tier'
        Get-Remains | Should -BeNullOrEmpty
    }

    It 'has the same steps in both' {
        $pattern = '\b(?:New|Set|Connect|Initialize|Format|Write|Optimize|Get|Clear|Disconnect|Remove)-(?:PhysicalDisk|Storage\w+|FileStorageTier|VirtualDisk|Disk|Partition|Volume\w*)\b'
        $changes = foreach ($name in 'provision.ps1', 'provision.sh') {
            $found = [regex]::Matches((Get-Content -Raw $examples/$name), $pattern).Value | Where-Object { $_ -notlike 'Get-*' } | Sort-Object -Unique
            ($found | Where-Object { $_ -notin 'Remove-Partition', 'Clear-Disk' }) -join ' '   # two ways to the same
        }

        $changes[0] | Should -Be $changes[1]
    }
}
