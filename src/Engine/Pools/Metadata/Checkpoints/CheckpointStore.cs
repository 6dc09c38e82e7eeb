using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// The checkpoint heap of one disk.
//
// A checkpoint is a tree of pages: root, tables, pages of the state. A new one writes only what has changed since the
// newest, to pages that neither the newest nor the one before uses, then the tables and the root, then flushes. It counts
// when a superblock names its root; only then is the one before the newest given up.
//
// Invariants
//  1. No page of the newest two checkpoints is written.
//  2. A page is reused by a new checkpoint only when its key and the objects it was made from are the same.
//  3. The heap holds three states of the largest size a commit may reach (MostStatePages): a checkpoint always fits.

/// <summary>Writes and reads the checkpoints of one disk.</summary>
internal sealed class CheckpointStore(MemberDisk disk)
{
    private const int PagesAtOnce = 32;

    private Image _newest = Image.None;
    private Image _previous = Image.None;
    private Image? _written;   // complete on the disk, not yet named by a superblock

    /// <summary>The newest checkpoint that a superblock names.</summary>
    internal CheckpointRoot Newest => _newest.Root;

    /// <summary>The checkpoint before it.</summary>
    internal CheckpointRoot Previous => _previous.Root;

    /// <summary>The journal must be kept from here on: either checkpoint can be recovered from.</summary>
    internal JournalPosition Oldest => Previous.Generation > 0 ? Previous.Position : Newest.Position;

    /// <summary>Roots that a superblock written now should name: the checkpoint just written, if there is one.</summary>
    internal (CheckpointRoot Newest, CheckpointRoot Previous) RootsToName =>
        _written is { } written ? (written.Root, _newest.Root) : (_newest.Root, _previous.Root);

    /// <summary>Pages that a state may have at most, so that three of them fit, with their tables and roots.</summary>
    internal static long MostStatePages(DiskLayout layout)
    {
        long each = layout.HeapPages / 3;
        return each - 2 - (each / CheckpointPage.TableEntries);
    }

    /// <summary>Writes a state and flushes. It counts after the next superblock and <see cref="Accept"/>.</summary>
    internal async LaneTask<IoError> Write(PoolState state, JournalPosition position)
    {
        Draft draft = new(disk, _newest, _previous);
        foreach (StatePage page in CheckpointPages.Enumerate(state))
        {
            if (!draft.Add(page))
            {
                return IoError.NoSpace;
            }
        }

        if (draft.Finish(position) is not { } image)
        {
            return IoError.NoSpace;
        }

        foreach ((long offset, byte[] bytes) in draft.Runs())
        {
            IoError error = await disk.Write(offset, bytes);
            if (error != IoError.None)
            {
                return error;
            }
        }

        IoError flushed = await disk.Flush();
        _written = flushed == IoError.None ? image : null;
        return flushed;
    }

    /// <summary>
    /// A superblock is durable. If it names the checkpoint written last, the oldest is given up; a checkpoint that was
    /// completed while the superblock was on its way is not named by it and waits for the next.
    /// </summary>
    internal void Accept(Superblock superblock)
    {
        if (_written is { } written && written.Root == superblock.Checkpoint)
        {
            (_previous, _newest, _written) = (_newest, written, null);
        }
    }

    /// <summary>
    /// Reads the state at a root, or gives null when anything in it is unreadable, damaged or contradictory. On success that
    /// checkpoint is the newest, and the one before is kept as far as it can be read.
    /// </summary>
    internal async LaneTask<PoolState?> Load(CheckpointRoot root, CheckpointRoot previous)
    {
        if (await ReadTree(root) is not { } tree || await ReadPages(tree.StatePages) is not { } pages)
        {
            return null;
        }

        if (StateOf(pages) is not { } state)
        {
            return null;
        }

        _newest = new Image(root, StoredPagesOf(state, tree, pages), tree.AllPages);
        _previous = previous != default && await ReadTree(previous) is { } before ? new Image(previous, [], before.AllPages) : Image.None;
        return state;
    }

    /// <summary>
    /// Says that the newest checkpoint holds this very state, read from another disk: pages made from its objects are known.
    /// </summary>
    internal void Share(PoolState state)
    {
        Dictionary<PageKey, StoredPage> stored = [];
        foreach (StatePage page in CheckpointPages.Enumerate(state))
        {
            if (_newest.Stored.TryGetValue(page.Key, out StoredPage? old))
            {
                stored[page.Key] = old with { Content = page.Content };
            }
        }

        _newest = _newest with { Stored = stored };
    }

    /// <summary>Gives up what the heap holds: the disk has held no metadata for a while, and gets all of it again.</summary>
    internal void Forget() => (_newest, _previous, _written) = (Image.None, Image.None, null);

    /// <summary>Makes the next checkpoint write every page again: those that it would share may be damaged.</summary>
    internal void ShareNothing() => _newest = _newest with { Stored = [] };

    /// <summary>Pages of the heap that the newest two checkpoints consist of.</summary>
    internal IEnumerable<uint> PagesInUse => _newest.Pages.Union(_previous.Pages);

    /// <summary>Returns the number of pages of the newest two checkpoints that are damaged, unreadable or misplaced.</summary>
    internal async LaneTask<int> CountDamaged()
    {
        int damaged = 0;
        foreach (uint page in PagesInUse)
        {
            damaged += await ReadPage(page) is null ? 1 : 0;
        }

        bool isWhole = damaged > 0 || (await IsWhole(Newest) && (Previous.Generation == 0 || await IsWhole(Previous)));
        return isWhole ? damaged : 1;
    }

    private async LaneTask<bool> IsWhole(CheckpointRoot root) => await ReadTree(root) is { } tree && await ReadPages(tree.StatePages) is not null;

    private static Dictionary<PageKey, StoredPage> StoredPagesOf(PoolState state, Tree tree, List<(PageKey Key, byte[] Contents)> pages)
    {
        Dictionary<PageKey, PageReference> read = [];
        for (int i = 0; i < pages.Count; i++)
        {
            read[pages[i].Key] = tree.StatePages[i];
        }

        Dictionary<PageKey, StoredPage> stored = [];
        foreach (StatePage page in CheckpointPages.Enumerate(state))
        {
            if (read.TryGetValue(page.Key, out PageReference reference))
            {
                stored[page.Key] = new StoredPage(page.Content, reference);
            }
        }

        return stored;
    }

    private static PoolState? StateOf(List<(PageKey Key, byte[] Contents)> pages)
    {
        PoolState state = PoolState.Empty;
        List<MetadataRecord> records = [];
        foreach ((_, byte[] contents) in pages)
        {
            records.Clear();
            if (!MetadataCodec.TryDecodeAll(contents, records, out _))
            {
                return null;
            }

            foreach (MetadataRecord record in records)
            {
                if (!state.TryApply(record, out PoolState? next, out _))
                {
                    return null;
                }

                state = next;
            }
        }

        return state.IsConsistent(out _) ? state : null;
    }

    private async LaneTask<Tree?> ReadTree(CheckpointRoot root)
    {
        if (await ReadPage(root.RootPage) is not { } page || page.Key.Kind != PageKind.Root)
        {
            return null;
        }

        ByteReader from = new(page.Contents);
        bool isRoot = from.U64() == root.Generation && JournalPosition.Decode(ref from) == root.Position;
        List<PageReference> tables = PageReference.DecodeAll(ref from);
        if (!isRoot || from.Failed || await ReadPages(tables) is not { } contents)
        {
            return null;
        }

        HashSet<uint> all = [root.RootPage, .. tables.Select(static table => table.Page)];
        List<PageReference> statePages = [];
        foreach ((PageKey key, byte[] bytes) in contents)
        {
            ByteReader table = new(bytes);
            statePages.AddRange(PageReference.DecodeAll(ref table));
            if (table.Failed || key.Kind != PageKind.Table)
            {
                return null;
            }
        }

        all.UnionWith(statePages.Select(static reference => reference.Page));
        return new Tree(statePages, all);
    }

    private async LaneTask<List<(PageKey Key, byte[] Contents)>?> ReadPages(List<PageReference> references)
    {
        List<(PageKey Key, byte[] Contents)> pages = new(references.Count);
        for (int at = 0; at < references.Count; at += PagesAtOnce)
        {
            List<PageReference> batch = references.GetRange(at, Math.Min(PagesAtOnce, references.Count - at));
            LaneTask<(PageKey Key, byte[] Contents)?>[] reads = [.. batch.Select(reference => ReadPage(reference.Page))];
            bool isWhole = true;
            for (int i = 0; i < reads.Length; i++)
            {
                (PageKey Key, byte[] Contents)? page = await reads[i];
                isWhole &= page is { } read && Crc32c.Compute(read.Contents) == batch[i].Checksum;
                pages.Add(page ?? default);
            }

            if (!isWhole)
            {
                return null;
            }
        }

        return pages;
    }

    private async LaneTask<(PageKey Key, byte[] Contents)?> ReadPage(uint page)
    {
        if (page >= disk.Layout.HeapPages)
        {
            return null;
        }

        byte[] block = new byte[PoolBlock.Size];
        long offset = disk.Layout.HeapPage(page);
        IoError error = await disk.Read(offset, block);
        return error == IoError.None
            && CheckpointPage.TryDecode(block, disk.Place(offset), out CheckpointPage header, out ReadOnlySpan<byte> contents)
                ? (header.Key, contents.ToArray())
                : null;
    }

    private sealed record StoredPage(object[] Content, PageReference Reference);

    private sealed record Tree(List<PageReference> StatePages, HashSet<uint> AllPages);

    /// <summary>A whole checkpoint: its root, the contents that its pages were made from, and every page of the heap it uses.</summary>
    private sealed record Image(CheckpointRoot Root, Dictionary<PageKey, StoredPage> Stored, HashSet<uint> Pages)
    {
        internal static Image None { get; } = new(default, [], []);
    }

    /// <summary>A checkpoint in the making, in memory.</summary>
    private sealed class Draft(MemberDisk disk, Image newest, Image previous)
    {
        private readonly Dictionary<PageKey, StoredPage> _stored = [];
        private readonly HashSet<uint> _pages = [];
        private readonly List<PageReference> _references = [];
        private readonly SortedDictionary<uint, byte[]> _toWrite = [];
        private readonly ByteWriter _contents = new(PoolBlock.Size);
        private readonly ulong _generation = newest.Root.Generation + 1;
        private uint _nextFree;

        internal bool Add(StatePage page)
        {
            if (newest.Stored.TryGetValue(page.Key, out StoredPage? old) && page.IsMadeFrom(old.Content))
            {
                return Keep(page, old.Reference);
            }

            _contents.Clear();
            page.Encode(_contents);
            return Put(page.Key) is { } reference && Keep(page, reference);
        }

        internal Image? Finish(JournalPosition position)
        {
            List<PageReference> tables = [];
            foreach (PageReference[] chunk in _references.Chunk(CheckpointPage.TableEntries))
            {
                _contents.Clear();
                Array.ForEach(chunk, reference => reference.Encode(_contents));
                if (Put(new PageKey(PageKind.Table, default, 0, (uint)tables.Count)) is not { } table)
                {
                    return null;
                }

                tables.Add(table);
            }

            _contents.Clear();
            _contents.U64(_generation);
            position.Encode(_contents);
            tables.ForEach(table => table.Encode(_contents));
            return Put(new PageKey(PageKind.Root, default, 0, 0)) is { } root
                ? new Image(new CheckpointRoot(_generation, root.Page, position), _stored, _pages)
                : null;
        }

        /// <summary>Returns the bytes to write, joined where pages are neighbours.</summary>
        internal IEnumerable<(long Offset, byte[] Bytes)> Runs()
        {
            List<byte[]> run = [];
            uint first = 0;
            foreach ((uint page, byte[] bytes) in _toWrite)
            {
                if (run.Count > 0 && page != first + run.Count)
                {
                    yield return (disk.Layout.HeapPage(first), Join(run));
                    run.Clear();
                }

                first = run.Count == 0 ? page : first;
                run.Add(bytes);
            }

            if (run.Count > 0)
            {
                yield return (disk.Layout.HeapPage(first), Join(run));
            }
        }

        private static byte[] Join(List<byte[]> run)
        {
            byte[] joined = new byte[run.Count * PoolBlock.Size];
            for (int i = 0; i < run.Count; i++)
            {
                run[i].CopyTo(joined, i * PoolBlock.Size);
            }

            return joined;
        }

        private bool Keep(StatePage page, PageReference reference)
        {
            _stored[page.Key] = new StoredPage(page.Content, reference);
            _references.Add(reference);
            _pages.Add(reference.Page);
            return true;
        }

        private PageReference? Put(PageKey key)
        {
            while (_nextFree < disk.Layout.HeapPages && (newest.Pages.Contains(_nextFree) || previous.Pages.Contains(_nextFree)))
            {
                _nextFree++;
            }

            if (_nextFree >= disk.Layout.HeapPages || _contents.Length > CheckpointPage.Capacity)
            {
                return null;
            }

            uint page = _nextFree++;
            byte[] block = new byte[PoolBlock.Size];
            new CheckpointPage(_generation, key).Encode(block, disk.Place(disk.Layout.HeapPage(page)), _contents.Written);
            _toWrite.Add(page, block);
            _pages.Add(page);
            return new PageReference(page, Crc32c.Compute(_contents.Written));
        }
    }
}
