"""Values of buffers where a forward depends on them, while torch follows it."""

import pytest

from algebra.plugins.models.aten.reader import read_torch

torch = pytest.importorskip("torch", reason="torch is not installed")
from tests.torch_modules import Computes, nn  # noqa: E402


@pytest.mark.parametrize(
    "forward",
    [
        lambda s, x: s.layer(x)[:, s.mask] if s.mask.any() else x,
        lambda s, x: s.layer(x)[:, s.mask.nonzero()[:, 0]],
        lambda s, x: s.layer(x)[:, : int(s.mask.sum())],
        lambda s, x: s.layer(x)[:, torch.where(s.mask)[0]] * torch.ones(s.mask.sum().item()),
        lambda s, x: s.layer(x).index_select(1, torch.arange(3)[s.mask]),
        lambda s, x: torch.cat([s.layer(x)[:, k : k + 1] for k in s.mask.nonzero().flatten()], 1),
    ],
)
def test_sizes_and_branches_by_buffers(forward):
    """Two of three labels, whose four weights and bias each learn."""
    mask = torch.tensor([True, False, True])
    net = Computes(forward, layer=nn.Linear(2, 3), mask=mask)
    read = read_torch(net, torch.zeros(5, 2))
    assert read.program.nodes[read.program.output].size == 2
    assert torch.equal(net.mask, mask), "the module is as it was"
