# The main job on a mounted file system: a verified fio run goes on while the host is killed, everything is found after everything
# was killed, and everything is read with one disk taken away. Needs root, FUSE and the programs named below.
BeforeDiscovery {
    $missing = 'fio', 'nbdfuse', 'nbdkit', 'mkfs.ext4', 'mkfs.xfs', 'losetup' | Where-Object { -not (Get-Command $_ -ErrorAction Ignore) }
    $reason = if ((id -u) -ne 0) { 'mounting needs root' }
    elseif (-not (Test-Path /dev/fuse)) { 'there is no /dev/fuse' }
    elseif ($missing) { "missing: $missing; apt-get install fio libnbd-bin nbdkit fuse3 e2fsprogs xfsprogs mount" }
    if ($reason) { Write-Host "MainJob: skipped: $reason" }
}

Describe 'A mirror with <_>' -ForEach 'ext4', 'xfs' -Skip:([bool]$reason) {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession -AttachNewDisks
        $mount = (New-Item -ItemType Directory mnt).FullName
        $null = New-TestPool -Size 768MB
        $null = New-VirtualDisk Pool1 -FriendlyName Data -ResiliencySettingName Mirror -NumberOfColumns 2 -Size 512MB
        $device = (Get-VirtualDisk Data).DevicePath
        & "mkfs.$_" -q $device
        mount $device $mount

        # kill -9 for the host, its supervisor and all processes between them and a mount; only this session's.
        function Stop-Everything {
            foreach ($folder in Get-ChildItem /proc -Directory | Where-Object Name -Match '^\d+$') {
                $command = (Get-Content -Raw "$folder/cmdline" -ErrorAction Ignore) -replace '\0', ' '
                $environment = Get-Content -Raw "$folder/environ" -ErrorAction Ignore
                if ($command -match 'tierspaces.* (serve|supervise)|nbdfuse|nbdkit' -and "$command$environment".Contains($env:TIERSPACES_HOME)) {
                    kill -9 $folder.Name
                }
            }
        }

        function Wait-Device {
            $limit = (Get-Date).AddSeconds(20)
            while (-not ($found = (Get-VirtualDisk Data).DevicePath) -and (Get-Date) -lt $limit) { Start-Sleep -Milliseconds 200 }
            $found
        }
    }

    AfterAll {
        umount -l $mount 2>$null
        Stop-TestSession
    }

    It 'keeps a verified fio run going through kill -9 of the host' {
        $fio = Start-Process fio -PassThru -RedirectStandardOutput fio.log -RedirectStandardError fio.err -ArgumentList @(
            '--name=v', "--directory=$mount", '--rw=randwrite', '--bs=4k', '--size=64m', '--ioengine=psync', '--numjobs=2',
            '--fsync=64', '--verify=crc32c', '--verify_fatal=1', '--do_verify=1', '--group_reporting')
        foreach ($round in 1..3) {
            Start-Sleep -Milliseconds 1500
            if ($fio.HasExited) { break }
            $running = $null   # its supervisor may still be starting it again
            foreach ($try in 1..200) {
                try { $running = Get-TierSpacesHost -ErrorAction Stop; break } catch { Start-Sleep -Milliseconds 100 }
            }
            kill -9 $running.ProcessId
        }

        $fio.WaitForExit(240000) | Should -BeTrue
        $fio.ExitCode | Should -Be 0 -Because (Get-Content -Raw fio.err)
    }

    It 'finds every byte after everything was killed' {
        foreach ($i in 1..20) { [IO.File]::WriteAllBytes("$mount/file$i", [Security.Cryptography.RandomNumberGenerator]::GetBytes($i * 40001)) }
        $sums = Get-ChildItem $mount/file* | Get-FileHash
        sync -f $mount

        Stop-Everything
        umount -l $mount
        mount (Wait-Device) $mount

        (Get-ChildItem $mount/file* | Get-FileHash).Hash | Should -Be $sums.Hash
    }

    It 'reads everything with one disk taken away while stopped' {
        $sums = Get-ChildItem $mount/file* | Get-FileHash
        umount $mount
        $null = Stop-TierSpacesHost
        Move-Item Pool12.img taken.img

        (Get-StoragePool Pool1).HealthStatus | Should -Not -Be 'Healthy'
        mount (Wait-Device) $mount

        (Get-ChildItem $mount/file* | Get-FileHash).Hash | Should -Be $sums.Hash
        (Get-VirtualDisk Data).OperationalStatus | Should -Be 'Degraded'
    }
}
