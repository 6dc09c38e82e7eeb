BeforeDiscovery {
    $missing = 'wipefs', 'sfdisk', 'mkfs.ext4', 'mkfs.xfs', 'mkfs.btrfs', 'mkswap' | Where-Object { -not (Get-Command $_ -ErrorAction Ignore) }
    if ($missing) { Write-Host "Reset-PhysicalDisk: signatures skipped: missing: $missing" }
    $noLoop = (id -u) -ne 0 -or -not (Get-Command losetup -ErrorAction Ignore) -or -not (Test-Path /dev/loop-control)
    $noArrays = $noLoop -or -not (Get-Command mdadm -ErrorAction Ignore) -or -not (Test-Path /proc/mdstat)
    if ($noArrays) { Write-Host 'Reset-PhysicalDisk: an array of mdadm skipped: needs root, loop devices, mdadm and the md driver of the kernel (/proc/mdstat)' }
}

BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
}

AfterAll {
    Stop-TestSession
}

Describe 'Reset-PhysicalDisk' {
    It 'leaves a disk that can join a pool' {
        $null = New-TestDisk 1
        Reset-PhysicalDisk disk1 -Confirm:$false
        (Get-PhysicalDisk disk1).CanPool | Should -Be $true
    }

    It 'refuses a member of an open pool' {
        $null = New-TestPool
        $failure = Get-WrittenError { Get-PhysicalDisk Pool11 | Reset-PhysicalDisk -Confirm:$false }
        $failure.FullyQualifiedErrorId | Should -BeLike 'StorageWMI *,Reset-PhysicalDisk'
        (Get-StoragePool Pool1).HealthStatus | Should -Be 'Healthy'
    }
}

# Programs of the machine write the signatures, and wipefs says whether they are gone.
Describe 'Reset-PhysicalDisk on a disk with <Name>' -Skip:([bool]$missing) -ForEach @(
    @{ Name = 'ext4'; Reason = 'Insufficient Capacity'; Signature = 'ext4'; Write = { mkfs.ext4 -q $image } }
    @{ Name = 'XFS'; Reason = 'Insufficient Capacity'; Signature = 'xfs'; Write = { mkfs.xfs -q $image } }
    @{ Name = 'btrfs'; Reason = 'Insufficient Capacity'; Signature = 'btrfs'; Write = { mkfs.btrfs -q $image } }
    @{ Name = 'swap space'; Reason = 'Insufficient Capacity'; Signature = 'swap'; Write = { mkswap -q $image } }
    @{ Name = 'an MBR'; Reason = 'Insufficient Capacity'; Signature = 'dos'; Write = { 'label: dos', ',' | sfdisk -q --no-tell-kernel $image } }
    @{ Name = 'a GPT and its copy'; Reason = 'Insufficient Capacity'; Signature = 'gpt'; Write = { 'label: gpt', ',' | sfdisk -q --no-tell-kernel $image } }
    @{ Name = 'an md superblock 1.2'; Reason = 'Reserved by subsystem'; Signature = 'linux_raid_member'; Write = { Write-Md12 $image } }
    @{ Name = 'an md superblock 0.90'; Reason = 'Reserved by subsystem'; Signature = 'linux_raid_member'; Write = { Write-Md090 $image } }
    @{ Name = 'a DDF header'; Reason = 'Reserved by subsystem'; Signature = 'ddf_raid_member'; Write = {
            Write-Bytes $image ((Get-Item $image).Length - 512) ([byte[]](0xDE, 0x11, 0xDE, 0x11, 0, 0, 0, 0) + [Text.Encoding]::ASCII.GetBytes('TESTDISK') + [byte[]](1..16)) }
    }
    @{ Name = 'Intel RAID metadata'; Reason = 'Reserved by subsystem'; Signature = 'isw_raid_member'; Write = {
            Write-Bytes $image ((Get-Item $image).Length - 1024) ([Text.Encoding]::ASCII.GetBytes('Intel Raid ISM Cfg Sig. 1.3.00')) }
    }
    @{ Name = 'an LVM label'; Reason = 'Reserved by subsystem'; Signature = 'LVM2_member'; Write = { Write-Lvm $image } }
    @{ Name = 'a partition table, a RAID and a file system'; Reason = 'Reserved by subsystem'; Signature = 'linux_raid_member'; Write = {
            'label: gpt', ',' | sfdisk -q --no-tell-kernel $image
            mkfs.ext4 -q -F $image
            Write-Md12 $image
            Write-Bytes $image ((Get-Item $image).Length - 1024) ([Text.Encoding]::ASCII.GetBytes('Intel Raid ISM Cfg Sig. 1.3.00')) }
    }
) {
    BeforeAll {
        function Write-Bytes([string] $Path, [long] $Offset, [byte[]] $Bytes) {
            $file = [IO.File]::OpenWrite($Path)
            $file.Position = $Offset
            $file.Write($Bytes)
            $file.Dispose()
        }

        # Version 1.2, 4096 bytes behind the beginning: little endian, with the sum of its words.
        function Write-Md12([string] $Path) {
            $block = [byte[]]::new(256)
            [BitConverter]::GetBytes([uint32]2838187772).CopyTo($block, 0)   # magic
            [BitConverter]::GetBytes([uint32]1).CopyTo($block, 4)            # major version
            ([byte[]](1..16)).CopyTo($block, 16)                               # identity of the array
            [BitConverter]::GetBytes([uint32]2).CopyTo($block, 92)           # disks
            [BitConverter]::GetBytes([uint64]8).CopyTo($block, 144)          # sector of this block
            $sum = [uint64]0
            for ($i = 0; $i -lt 256; $i += 4) { $sum += [BitConverter]::ToUInt32($block, $i) }
            [BitConverter]::GetBytes([uint32](($sum -band 0xFFFFFFFFL) + ($sum -shr 32))).CopyTo($block, 216)
            Write-Bytes $Path 4096 $block
        }

        # Version 0.90, in the last whole 64 KiB but one.
        function Write-Md090([string] $Path) {
            $block = [byte[]]::new(4096)
            [BitConverter]::GetBytes([uint32]2838187772).CopyTo($block, 0)
            [BitConverter]::GetBytes([uint32]90).CopyTo($block, 8)
            ([byte[]](1..4)).CopyTo($block, 20)
            $size = (Get-Item $Path).Length
            Write-Bytes $Path ($size - $size % 65536 - 65536) $block
        }

        # The label of a physical volume in the second sector, with the checksum of LVM.
        function Write-Lvm([string] $Path) {
            $label = [byte[]]::new(512)
            [Text.Encoding]::ASCII.GetBytes('LABELONE').CopyTo($label, 0)
            [BitConverter]::GetBytes([uint64]1).CopyTo($label, 8)
            [BitConverter]::GetBytes([uint32]32).CopyTo($label, 20)
            [Text.Encoding]::ASCII.GetBytes('LVM2 001').CopyTo($label, 24)
            [Text.Encoding]::ASCII.GetBytes('abcdefghijklmnopqrstuvwxyz012345').CopyTo($label, 32)
            $sum = [uint64]0xf597a6cfL
            for ($i = 20; $i -lt 512; $i++) {
                $sum = $sum -bxor $label[$i]
                for ($bit = 0; $bit -lt 8; $bit++) { $sum = if ($sum -band 1) { ($sum -shr 1) -bxor 0xedb88320L } else { $sum -shr 1 } }
            }

            [BitConverter]::GetBytes([uint32]$sum).CopyTo($label, 16)
            Write-Bytes $Path 512 $label
        }
    }

    It 'says why it is not pooled, lists what is there, and clears all of it' {
        $image = Join-Path $SessionFolder "foreign$([guid]::NewGuid().ToString('N')).img"
        $name = [IO.Path]::GetFileNameWithoutExtension($image)
        [IO.File]::OpenWrite($image).Dispose()
        truncate -s 400M $image
        $null = & $Write
        wipefs --noheadings --output TYPE $image | Should -Contain $Signature
        $isArray = $Signature -eq 'linux_raid_member' -and (Get-Command mdadm -ErrorAction Ignore)
        if ($isArray) { "$(mdadm --examine $image 2>&1)" | Should -Match 'a92b4efc' }
        $null = Register-PhysicalDisk $image

        $disk = Get-PhysicalDisk $name
        $disk.CanPool | Should -BeFalse
        $disk.CannotPoolReason | Should -Be $Reason
        $disk.OtherCannotPoolReasonDescription | Should -Match 'Reset-PhysicalDisk'
        (Get-WrittenError { New-StoragePool -StorageSubSystemFriendlyName * -FriendlyName None -PhysicalDisks $disk }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,New-StoragePool'

        $program = Join-Path (Split-Path $TestModule) 'bin/host/tierspaces'
        $plan = & $program Reset-PhysicalDisk $name -WhatIf
        foreach ($line in wipefs --noheadings --output OFFSET,TYPE $image) {
            $offset, $type = $line.Trim() -split '\s+'
            "$plan" | Should -Match "\($type\) at offset (0|[\d.]+ (bytes|[KMGT]B)( \(\d+ bytes\))?) \($offset\)"
        }

        Reset-PhysicalDisk $name -WhatIf
        wipefs --noheadings --output TYPE $image | Should -Contain $Signature
        Reset-PhysicalDisk $name -Confirm:$false
        wipefs $image | Should -BeNullOrEmpty
        if ($isArray) { "$(mdadm --examine $image 2>&1)" | Should -Match 'No md superblock detected' }
        (Get-PhysicalDisk $name).CanPool | Should -BeTrue
        Unregister-PhysicalDisk $name
        Remove-Item $image
    }
}

Describe 'Reset-PhysicalDisk on a block device with partitions' -Skip:([bool]$missing -or $noLoop) {
    It 'makes the system forget the partitions' {
        $image = Join-Path $SessionFolder partitioned.img
        [IO.File]::OpenWrite($image).Dispose()
        truncate -s 256M $image
        'label: gpt', 'size=64MiB', ',' | sfdisk -q --no-tell-kernel $image
        $loop = losetup --find --show --partscan $image
        try {
            $null = Register-PhysicalDisk $loop -FriendlyName Loop
            (Get-PhysicalDisk Loop).CanPool | Should -BeFalse
            (Get-PhysicalDisk Loop).CannotPoolReason | Should -Be 'Insufficient Capacity'
            Reset-PhysicalDisk Loop -Confirm:$false
            (Get-PhysicalDisk Loop).OtherCannotPoolReasonDescription | Should -BeNullOrEmpty
            (Get-PhysicalDisk Loop).CanPool | Should -BeTrue
            Get-ChildItem "/sys/class/block/$(Split-Path -Leaf $loop)" -Filter "$(Split-Path -Leaf $loop)p*" | Should -BeNullOrEmpty
        }
        finally {
            Unregister-PhysicalDisk Loop
            losetup --detach $loop
        }
    }
}

Describe 'Reset-PhysicalDisk on a member of an array' -Skip:$noArrays {
    It 'is refused while the array runs, and clears the disk when it is stopped' {
        $loops = foreach ($name in 'member1', 'member2') {
            $image = Join-Path $SessionFolder "$name.img"
            [IO.File]::OpenWrite($image).Dispose()
            truncate -s 300M $image
            losetup --find --show $image
        }

        $array = '/dev/md/tierspaces'
        try {
            mdadm --create $array --run --level=1 --raid-devices=2 --metadata=1.2 --homehost=any @loops
            $LASTEXITCODE | Should -Be 0
            $null = Register-PhysicalDisk $loops[0] -FriendlyName Member
            (Get-PhysicalDisk Member).CanPool | Should -BeFalse
            (Get-WrittenError { Reset-PhysicalDisk Member -Confirm:$false }).FullyQualifiedErrorId | Should -BeLike 'StorageWMI *,Reset-PhysicalDisk'
            mdadm --stop $array
            (Get-PhysicalDisk Member).CannotPoolReason | Should -Be 'Reserved by subsystem'
            Reset-PhysicalDisk Member -Confirm:$false
            (Get-PhysicalDisk Member).CanPool | Should -BeTrue
            "$(mdadm --examine $loops[0] 2>&1)" | Should -Match 'No md superblock detected'
        }
        finally {
            Unregister-PhysicalDisk Member
            if (Test-Path $array) { mdadm --stop $array }
            losetup --detach @loops
        }
    }
}
