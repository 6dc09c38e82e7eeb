using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Primitives;

/// <summary>The list of work in flight.</summary>
public sealed class FollowerListTests
{
    private readonly Node[] _nodes = [new(), new(), new()];
    private FollowerList<Node> _list;

    [Theory]
    [InlineData(new int[0], new[] { 0, 1, 2 })]
    [InlineData(new[] { 0 }, new[] { 1, 2 })]
    [InlineData(new[] { 1 }, new[] { 0, 2 })]
    [InlineData(new[] { 2 }, new[] { 0, 1 })]
    [InlineData(new[] { 2, 0 }, new[] { 1 })]
    [InlineData(new[] { 1, 0, 2 }, new int[0])]
    public void Nodes_leave_from_every_place_and_the_others_keep_their_order(int[] leaving, int[] left)
    {
        Fill();
        foreach (int node in leaving)
        {
            _list.Remove(_nodes[node]);
        }

        Assert.Equal(left, Order());
    }

    [Fact]
    public void A_node_that_left_may_enter_again_as_the_newest()
    {
        Fill();
        _list.Remove(_nodes[0]);
        _list.Add(_nodes[0]);

        Assert.Equal([1, 2, 0], Order());
    }

    [Fact]
    public void A_node_that_left_refers_to_no_other_node()
    {
        Fill();
        _list.Remove(_nodes[1]);

        Assert.Null(_nodes[1].Older);
        Assert.Null(_nodes[1].Newer);
    }

    [Fact]
    public void A_node_enters_once_and_leaves_once()
    {
        Fill();
        Assert.Throws<InvariantException>(() => _list.Add(_nodes[1]));
        _list.Remove(_nodes[1]);
        Assert.Throws<InvariantException>(() => _list.Remove(_nodes[1]));
    }

    private void Fill()
    {
        foreach (Node node in _nodes)
        {
            _list.Add(node);
        }
    }

    private List<int> Order()
    {
        List<int> order = [];
        for (Node? node = _list.Oldest; node is not null; node = FollowerList<Node>.After(node))
        {
            order.Add(Array.IndexOf(_nodes, node));
        }

        return order;
    }

    private sealed class Node : LinkedFollower
    {
        protected override IoError OnEnded(IoError error) => error;

        protected override void Free()
        {
        }
    }
}
