BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Get-Volume' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'shows the documented columns' {
        Get-Volume | Out-String -Width 200 | Should -Match 'DriveLetter\s+FriendlyName\s+FileSystemType\s+DriveType\s+HealthStatus\s+OperationalStatus\s+SizeRemaining\s+Size'
    }

    It 'goes down the pipeline and back' {
        (Get-VirtualDisk | Get-Disk | Get-Partition | Get-Volume).DriveLetter | Should -Be 'E'
        (Get-Volume E | Get-Partition | Get-Disk | Get-VirtualDisk).FriendlyName | Should -Be 'Data'
        (Get-Volume -FilePath (Join-Path $env:TIERSPACES_VOLUME_ROOT E/file)).DriveLetter | Should -Be 'E'
    }

    It 'has a drive letter that is a character, with which scripts find the next one' {
        (Get-Volume E).DriveLetter | Should -BeOfType char
        (Get-Partition -DriveLetter E).DriveLetter | Should -BeOfType char
        [char] ([byte] (Get-Volume E).DriveLetter + 1) | Should -Be 'F'
        (Get-Volume E | Get-Partition).DriveLetter | Should -Be 'E'
        (Get-Volume | Where-Object DriveLetter -In E, F).DriveLetter | Should -Be 'E'
    }
}

Describe 'Drive letters in the session' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
        $root = $env:TIERSPACES_VOLUME_ROOT

        # Names of the drives that the module made, in this session.
        function Get-LetterDrive { (Get-PSDrive -PSProvider FileSystem | Where-Object Root -Like "$root/*" | Sort-Object Name | ForEach-Object Name) -join ' ' }

        function Get-ShellAnswer([string] $Command) { pwsh -NoProfile -NonInteractive -Command "Import-Module '$TestModule'; $Command" }
    }

    AfterAll {
        Set-Location $SessionFolder
        Remove-PSDrive -Name X, Y -ErrorAction Ignore
        Stop-TestSession
    }

    It 'are drives as soon as a volume has them' {
        Get-LetterDrive | Should -Be 'E'
        Get-Content E:\file | Should -Be 'text'
        Set-Content E:\IO1.dat 'more'
        Get-Content $root/E/IO1.dat | Should -Be 'more'
        (Get-ChildItem E:).Name | Should -Contain 'IO1.dat'
        Test-Path e:/IO1.dat | Should -BeTrue
        (Get-Volume -FilePath E:\IO1.dat).DriveLetter | Should -Be 'E'
        (Get-Item E:\IO1.dat | Get-Volume).DriveLetter | Should -Be 'E'
    }

    It 'are places that a session can be in' {
        Push-Location E:\
        "$PWD" | Should -Be 'E:/'
        Get-Content file | Should -Be 'text'
        Pop-Location
        Get-LetterDrive | Should -Be 'E'
    }

    It 'are commands: E: alone goes there, as long as there is the drive' {
        Push-Location $SessionFolder
        E:
        "$PWD" | Should -Be 'E:/'
        e:
        Get-Content file | Should -Be 'text'
        Pop-Location
        (Get-Item function:E:).Definition | Should -Be 'Set-Location $MyInvocation.MyCommand.Name'

        Set-Partition -DriveLetter E -NewDriveLetter F
        { E: } | Should -Throw -ErrorId CommandNotFoundException
        Push-Location $SessionFolder
        F:
        "$PWD" | Should -Be 'F:/'
        Pop-Location
        Set-Partition -DriveLetter F -NewDriveLetter E
        Test-Path function:F: | Should -BeFalse

        function global:F: { 'of the user' }
        Set-Partition -DriveLetter E -NewDriveLetter F
        F: | Should -Be 'of the user'
        Set-Partition -DriveLetter F -NewDriveLetter E
        F: | Should -Be 'of the user'
        Remove-Item function:F:
    }

    It 'are commands in another session from the import until the module is removed' {
        Get-ShellAnswer 'E:; "$PWD"; Remove-Module TierSpaces; Test-Path function:E:; "$PWD"' | Should -Be 'E:/', 'False', '/'
        Get-ShellAnswer 'Remove-PSDrive E; Remove-Module TierSpaces; Test-Path function:E:' | Should -Be 'False'
        Get-ShellAnswer 'function Enter-Volume { $null = Get-Volume; E:; "$PWD" }; Enter-Volume; "$PWD"' | Should -Be 'E:/', 'E:/'
    }

    It 'are drives when the next cmdlet of the pipeline runs' {
        Get-Partition 1 1 | Set-Partition -NewDriveLetter F
        Get-Volume F | ForEach-Object { Get-Content "$($_.DriveLetter):\file" } | Should -Be 'text'
        Get-LetterDrive | Should -Be 'F'
        Test-Path E:\file | Should -BeFalse
        Set-Partition -DriveLetter F -NewDriveLetter E
        Get-LetterDrive | Should -Be 'E'
    }

    It 'come with New-Partition, New-Volume and Add-PartitionAccessPath' {
        New-Partition 1 -Size 32MB -AssignDriveLetter | Format-Volume -Confirm:$false | ForEach-Object { Set-Content "$($_.DriveLetter):\new" 'new' }
        Get-Content D:\new | Should -Be 'new'
        New-Volume -StoragePoolFriendlyName Pool1 -FriendlyName second -Size 64MB -ResiliencySettingName Simple -DriveLetter G | ForEach-Object { Set-Content G:\f 'g' }
        Get-Content $root/G/f | Should -Be 'g'
        Remove-PartitionAccessPath -DriveLetter D
        Get-LetterDrive | Should -Be 'E G'
        Add-PartitionAccessPath 1 2 -AccessPath H:
        Get-Content H:\new | Should -Be 'new'
        Remove-Partition -DriveLetter H -Confirm:$false
        Get-LetterDrive | Should -Be 'E G'
    }

    It 'go with their volume, also if one is the current location' {
        Set-Location G:\
        Get-Volume G | Get-Partition | Remove-Partition -Confirm:$false
        Get-LetterDrive | Should -Be 'E'
        "$PWD" | Should -Not -BeLike 'G:*'
        Get-ChildItem | Should -Not -BeNullOrEmpty
        Set-Location $SessionFolder
        Disconnect-VirtualDisk second
        Remove-VirtualDisk second -Confirm:$false
    }

    It 'leave a drive alone that the user made' {
        $null = New-PSDrive -Name X -PSProvider FileSystem -Root $SessionFolder -Scope Global
        Set-Partition -DriveLetter E -NewDriveLetter X
        (Get-PSDrive X).Root | Should -Be $SessionFolder
        Get-Volume X | ForEach-Object DriveLetter | Should -Be 'X'
        Set-Partition -DriveLetter X -NewDriveLetter E
        (Get-PSDrive X).Root | Should -Be $SessionFolder
        $null = New-PSDrive -Name Y -PSProvider FileSystem -Root $root/E -Scope Global
        $null = Get-Volume
        Get-LetterDrive | Should -Be 'E Y'
        Remove-PSDrive Y
    }

    It 'are found by another session: at import, and with a cmdlet when another session makes them' {
        Get-ShellAnswer 'Get-Content E:\file' | Should -Be 'text'
        Get-ShellAnswer 'Remove-Module TierSpaces; Test-Path E:\file' | Should -Be 'False'
        $null = Get-ShellAnswer 'Set-Partition -DriveLetter E -NewDriveLetter K'
        Get-LetterDrive | Should -Be 'E'
        $null = Get-StoragePool
        Get-LetterDrive | Should -Be 'K'
        Set-Partition -DriveLetter K -NewDriveLetter E
    }

    It 'are those of the home that the session works with' {
        $home1 = $env:TIERSPACES_HOME
        $env:TIERSPACES_HOME = Join-Path $SessionFolder home2
        $null = Get-StoragePool
        Get-LetterDrive | Should -Be ''
        $null = Stop-TierSpacesHost
        $env:TIERSPACES_HOME = $home1
        $null = Get-StoragePool
        Get-LetterDrive | Should -Be 'E'
    }

    It 'do not go with the host, which leaves volumes mounted, and start no host at import' {
        $null = Stop-TierSpacesHost -KeepAttached -WarningAction Ignore
        Get-LetterDrive | Should -Be 'E'
        Get-ShellAnswer 'Get-PSDrive -PSProvider FileSystem | Where-Object Name -EQ E | ForEach-Object Name' | Should -BeNullOrEmpty
        Test-Path (Join-Path $env:TIERSPACES_HOME host.sock) | Should -BeFalse
        $null = Start-TierSpacesHost
        Get-Content E:\file | Should -Be 'text'
    }
}
