using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Writes the checksum pages of a position to a slab that is being made whole. The caller holds the writeback.</summary>
internal sealed class PageCopier(SpaceContext space, SpaceLog log, IntegrityStore integrity, SpaceFlusher flusher)
{
    private readonly ILayout _layout = space.Layout;
    private readonly BufferPool _buffers = space.Lane.Buffers;

    /// <summary>Writes the pages of some regions that are in the slab of a position, as logged, to another slab; flushes; reads them back.</summary>
    internal async LaneTask<IoError> WritePages(SpaceRow row, int position, ushort regions, SlabPlace target)
    {
        IoError error = await log.CommitAll();   // blocks that the copying passed over as never-written must stay so
        IoBuffer images = _buffers.Rent(space.Shape.PagesPerSlab * ColumnsAt(position) * ChecksumSector.PageSize);
        List<PagePlace> written = [];
        for (int column = 0; column < _layout.Columns; column++)
        {
            for (int copy = 0; copy < _layout.PageCopies; copy++)
            {
                for (int index = 0; index < space.Shape.PagesPerSlab && error == IoError.None; index++)
                {
                    PagePlace place = _layout.PageAt(column, index, copy);
                    if (place.Position == position && (integrity.PageRegions(index) & regions) != 0)
                    {
                        IoBuffer image = images.Slice(written.Count * ChecksumSector.PageSize, ChecksumSector.PageSize);
                        written.Add(place);
                        error = await integrity.EncodeLogged(row, column, index, image);
                        error = error == IoError.None
                            ? await space.Members.WriteOrEvict(target.Disk, target.OffsetOf(place), image, hasOtherCopy: true) : error;
                        space.Counters.Io.NoteMetadata(image.Length);
                    }
                }
            }
        }

        error = error == IoError.None ? await flusher.FlushTarget(target) : error;
        IoBuffer back = _buffers.Rent(ChecksumSector.PageSize);
        for (int i = 0; i < written.Count && error == IoError.None; i++)
        {
            space.Counters.Io.NoteMetadataRead(back.Length);
            error = await space.Members.Read(target.Disk, target.OffsetOf(written[i]), back);
            bool isEqual = back.Span.SequenceEqual(images.Span.Slice(i * ChecksumSector.PageSize, ChecksumSector.PageSize));
            error = error == IoError.None && !isEqual ? IoError.Io : error;
        }

        _buffers.Return(back);
        _buffers.Return(images);
        return error;
    }

    /// <summary>Returns how many columns have a copy of their pages in the slab of a position.</summary>
    private int ColumnsAt(int position)
    {
        int count = 0;
        for (int column = 0; column < _layout.Columns; column++)
        {
            for (int copy = 0; copy < _layout.PageCopies; copy++)
            {
                count += _layout.PageAt(column, 0, copy).Position == position ? 1 : 0;
            }
        }

        return count;
    }
}
