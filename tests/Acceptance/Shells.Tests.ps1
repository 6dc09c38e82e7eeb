# More than one shell, a host that dies under a command, and the shell of another user.
BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool

    function Start-Shell([string] $Script) {
        $start = [Diagnostics.ProcessStartInfo]::new('pwsh')
        foreach ($word in '-NoProfile', '-NonInteractive', '-Command', "Import-Module '$TestModule'; $Script") { $start.ArgumentList.Add($word) }
        $start.RedirectStandardOutput = $true
        $start.RedirectStandardError = $true
        [Diagnostics.Process]::Start($start)
    }

    function Receive-Shell([Diagnostics.Process] $Shell) {
        $text = $Shell.StandardOutput.ReadToEnd() + $Shell.StandardError.ReadToEnd()
        $Shell.WaitForExit(60000) | Should -BeTrue
        $text
    }
}

AfterAll {
    Stop-TestSession
}

Describe 'Two shells at once' {
    It 'make and remove virtual disks beside each other, and every answer is right' {
        $script = '$ErrorActionPreference = "Stop"; foreach ($i in 1..8) {{ $d = New-VirtualDisk Pool1 -FriendlyName "{0}$i" -Size 8MB; if ((Get-VirtualDisk "{0}$i").UniqueId -ne $d.UniqueId) {{ throw "another" }}; if ($i % 2) {{ $d | Remove-VirtualDisk -Confirm:$false }} }}; "done"'
        $shells = 'A', 'B' | ForEach-Object { Start-Shell ($script -f $_) }
        $shells | ForEach-Object { Receive-Shell $_ | Should -Match '^done\s*$' }
        (Get-VirtualDisk).FriendlyName | Sort-Object | Should -Be 'A2', 'A4', 'A6', 'A8', 'B2', 'B4', 'B6', 'B8'
    }

    It 'give one name to one of them only' {
        $shells = 1..2 | ForEach-Object { Start-Shell 'try { $null = New-VirtualDisk Pool1 -FriendlyName Same -Size 8MB -ErrorAction Stop; "made" } catch { $_.FullyQualifiedErrorId }' }
        ($shells | ForEach-Object { (Receive-Shell $_).Trim() } | Sort-Object) -join '; ' | Should -Be 'made; StorageWMI 5,New-VirtualDisk'
        @(Get-VirtualDisk Same).Count | Should -Be 1
    }

    It 'start one host when there is none' {
        $null = Stop-TierSpacesHost
        $shells = 1..2 | ForEach-Object { Start-Shell '(Start-TierSpacesHost).ProcessId' }
        $ids = $shells | ForEach-Object { (Receive-Shell $_).Trim() }
        $ids | Sort-Object -Unique | Should -Be (Get-TierSpacesHost).ProcessId
    }
}

Describe 'A host that dies under a command' {
    It 'leaves the shell with an answer or with an error that says so, and what was asked for is done or not' {
        foreach ($round in 1..4) {
            $shell = Start-Shell "foreach (`$i in 1..200) { try { `$null = New-VirtualDisk Pool1 -FriendlyName K$round-`$i -Size 8MB -ErrorAction Stop; `$null = Remove-VirtualDisk K$round-`$i -Confirm:`$false -ErrorAction Stop } catch { `$_.FullyQualifiedErrorId; break } }"
            $limit = (Get-Date).AddSeconds(30)
            while (-not (Get-VirtualDisk "K$round-*") -and (Get-Date) -lt $limit) { Start-Sleep -Milliseconds 5 }
            kill -9 (Get-TierSpacesHost).ProcessId
            $said = (Receive-Shell $shell).Trim()
            $said | Should -BeIn '', 'StorageWMI 5,New-VirtualDisk', 'StorageWMI 5,Remove-VirtualDisk'

            (Get-StoragePool Pool1).HealthStatus | Should -Be 'Healthy'
            $left = @(Get-VirtualDisk "K$round-*")
            $left.Count | Should -BeLessOrEqual 1
            $left | Remove-VirtualDisk -Confirm:$false
        }
    }

    It 'is asked again by a command that only reads' {
        $process = (Get-TierSpacesHost).ProcessId
        kill -9 $process
        (Get-StoragePool Pool1).FriendlyName | Should -Be 'Pool1'
        (Get-TierSpacesHost).ProcessId | Should -Not -Be $process
    }
}

Describe 'A shell of another user' {
    It 'is refused plainly and changes nothing' {
        if ((id -u) -ne 0) {
            Set-ItResult -Skipped -Because 'only root can act as another user'
            return
        }

        chmod 711 $SessionFolder
        setpriv --reuid=65534 --regid=65534 --clear-groups test -r $TestModule
        if ($LASTEXITCODE -ne 0) {
            Set-ItResult -Skipped -Because "another user cannot read $TestModule"
            return
        }

        $program = Join-Path (Split-Path $TestModule) 'bin/host/tierspaces'
        $before = @(Get-VirtualDisk).Count
        $said = setpriv --reuid=65534 --regid=65534 --clear-groups env TIERSPACES_HOME=$env:TIERSPACES_HOME HOME=/tmp $program New-VirtualDisk Pool1 -FriendlyName Mine -Size 8MB 2>&1
        $LASTEXITCODE | Should -Be 1
        "$said" | Should -BeLike 'New-VirtualDisk: Access denied.*StorageWMI 40001*'
        $shell = setpriv --reuid=65534 --regid=65534 --clear-groups env TIERSPACES_HOME=$env:TIERSPACES_HOME HOME=/tmp pwsh -NoProfile -NonInteractive -Command "Import-Module '$TestModule'; try { Get-StoragePool } catch { `$_.FullyQualifiedErrorId }" 2>&1
        "$shell" | Should -BeLike '*StorageWMI 40001,Get-StoragePool*'
        @(Get-VirtualDisk).Count | Should -Be $before
    }
}
