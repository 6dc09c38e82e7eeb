# Installs a package of the module into a folder of modules, as a repository would, and answers with the folder of the module: with
# PSResourceGet where the shell has it, from a local repository of its own, else by unpacking the file as PSResourceGet does.
param(
    [Parameter(Mandatory)] [string] $Package,
    [Parameter(Mandatory)] [string] $To
)

$ErrorActionPreference = 'Stop'
$file = Get-Item -LiteralPath $Package
$version = [regex]::Match($file.Name, '^TierSpaces\.(\d+\.\d+\.\d+)\.nupkg$').Groups[1].Value
$module = Join-Path $To "TierSpaces/$version"
if (Get-Command Save-PSResource -ErrorAction Ignore) {
    $repository = "TierSpaces$([guid]::NewGuid().ToString('N'))"
    Register-PSResourceRepository -Name $repository -Uri $file.DirectoryName -Trusted
    try {
        $null = New-Item -ItemType Directory -Force $To
        Save-PSResource -Name TierSpaces -Repository $repository -Path $To
    }
    finally {
        Unregister-PSResourceRepository -Name $repository
    }
}
else {
    [IO.Compression.ZipFile]::ExtractToDirectory($file.FullName, $module)
    '_rels', 'package', '[Content_Types].xml', 'TierSpaces.nuspec' | ForEach-Object { Remove-Item -LiteralPath (Join-Path $module $_) -Recurse -Force }
}

$module
