"""Backward passes over fake tensors, in Python: torch's engine asks the driver for streams, and there is none.

Hooks on tensors that are no leaves are not called.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

_Key = Tuple[int, int]


def replace_engine(torch: Any) -> None:
    """Graphs that touch the device go through this engine from here on, all others through torch's own."""
    from torch.autograd import function

    holder = torch.autograd.Variable
    engine = holder._execution_engine = _Engine(torch, holder._execution_engine)
    # Asked in a backward pass by what torch has compiled, of an engine that is not running.
    keeps = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", None)
    if keeps is not None:
        torch._C._autograd._get_current_graph_task_keep_graph = lambda: engine.keeps_graph(keeps)
    set_materialize = function.FunctionCtx.set_materialize_grads

    def set_materialize_grads(self: Any, value: bool) -> None:
        self._triton_triage_materialize = value
        set_materialize(self, value)

    function.FunctionCtx.set_materialize_grads = set_materialize_grads


class _Engine:
    """Takes the place of ``Variable._execution_engine``."""

    def __init__(self, torch: Any, own: Any) -> None:
        self._torch, self._own = torch, own
        self._callbacks: List[Callable[[], None]] = []
        self._depth = 0
        self._keeps = False

    def keeps_graph(self, own: Callable[[], bool]) -> bool:
        """Whether the pass that is running leaves its graph for another."""
        return self._keeps if self._depth else own()

    def queue_callback(self, callback: Callable[[], None]) -> None:
        """To be called when the backward pass is done."""
        if self._depth:
            self._callbacks.append(callback)
        else:
            self._own.queue_callback(callback)

    def is_checkpoint_valid(self) -> bool:
        """Whether nothing but leaves gets gradients."""
        return True

    def run_backward(
        self,
        tensors: Any,
        grad_tensors: Any,
        keep_graph: bool,
        create_graph: bool,
        inputs: Any = (),
        allow_unreachable: bool = False,
        accumulate_grad: bool = False,
    ) -> Any:
        """As torch's."""
        graph = _Graph([self._edge(one) for one in tensors])
        if not graph.on_device():
            return self._own.run_backward(
                tensors, grad_tensors, keep_graph, create_graph, inputs or (), allow_unreachable, accumulate_grad
            )
        wanted = [self._edge(one) for one in inputs or ()]
        before, self._keeps = self._keeps, keep_graph
        self._depth += 1
        try:
            with self._torch.set_grad_enabled(create_graph):
                found = _Pass(self._torch, graph, wanted, accumulate_grad).run(grad_tensors)
        finally:
            self._depth -= 1
            self._keeps = before
        if not self._depth:
            callbacks, self._callbacks = self._callbacks, []
            for callback in callbacks:
                callback()
        if accumulate_grad:
            return None
        if not allow_unreachable and any(one is None for one in found):
            raise RuntimeError(
                "One of the differentiated Tensors appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior."
            )
        return tuple(found)

    def _edge(self, tensor: Any) -> Tuple[Any, int]:
        """The node and which of its outputs a tensor is."""
        if isinstance(tensor, tuple):  # a GradientEdge
            return tensor[0], tensor[1]
        if tensor.grad_fn is not None:
            return tensor.grad_fn, tensor.output_nr
        if not tensor.requires_grad:
            raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
        with self._torch.enable_grad():
            return tensor.view_as(tensor).grad_fn.next_functions[0][0], 0


class _Graph:
    """All nodes that can be reached, with the number of edges that come into each."""

    def __init__(self, roots: List[Tuple[Any, int]]) -> None:
        self.roots = roots
        self.nodes: Dict[int, Any] = {}
        self.awaited: Dict[int, int] = {}
        todo = [node for node, _ in roots]
        while todo:
            node = todo.pop()
            if id(node) in self.nodes:
                continue
            self.nodes[id(node)] = node  # also keeps its id from being another's
            for following, _ in node.next_functions:
                if following is not None:
                    self.awaited[id(following)] = self.awaited.get(id(following), 0) + 1
                    todo.append(following)

    def on_device(self) -> bool:
        """Whether any of it is."""
        return any(given.device.type != "cpu" for node in self.nodes.values() for given in _metadata(node))

    def leading_to(self, wanted: Set[int]) -> Set[int]:
        """The nodes from which one of these is reached."""
        before: Dict[int, List[int]] = {}
        for key, node in self.nodes.items():
            for following, _ in node.next_functions:
                if following is not None:
                    before.setdefault(id(following), []).append(key)
        found: Set[int] = set()
        todo = [one for one in wanted if one in self.nodes]
        while todo:
            key = todo.pop()
            if key not in found:
                found.add(key)
                todo.extend(before.get(key, ()))
        return found


class _Pass:
    """One backward pass. ``wanted``: edges whose gradients are asked for; none means those of all leaves."""

    def __init__(self, torch: Any, graph: _Graph, wanted: List[Tuple[Any, int]], accumulate: bool) -> None:
        self._torch, self._graph, self._wanted, self._accumulate = torch, graph, wanted, accumulate
        self._targets = {id(node) for node, _ in wanted}
        self._on_the_way = graph.leading_to(self._targets) if wanted else set(graph.nodes)
        self._gradients: Dict[int, Dict[int, Any]] = {}
        self._ready: List[Tuple[int, int, Any]] = []
        self._awaited = dict(graph.awaited)
        self._counter = itertools.count()

    def run(self, gradients: Any) -> List[Any]:
        """The gradients that are wanted, in their order."""
        for (node, output), gradient in zip(self._graph.roots, gradients):  # noqa: B905 - of Python 3.10
            given = gradient if gradient is not None else self._one(node, output)
            self._add(node, output, given)
        for node in {id(node): node for node, _ in self._graph.roots}.values():
            if not self._awaited.get(id(node)):
                self._push(node)
        found: Dict[_Key, Any] = {}
        while self._ready:
            node = heapq.heappop(self._ready)[2]
            metadata = _metadata(node)
            given = self._gradients.pop(id(node), {})
            held = {output: self._fitting(value, metadata, output) for output, value in given.items()}
            if id(node) in self._targets:
                found.update({(id(node), output): value for output, value in held.items()})
            answers = self._answers(node, held) if self._runs(node, held) else []
            edges = node.next_functions
            for place, (following, output) in enumerate(edges):
                if following is None:
                    continue
                if place < len(answers) and answers[place] is not None:
                    self._add(following, output, answers[place])
                self._awaited[id(following)] -= 1
                if not self._awaited[id(following)]:
                    self._push(following)
        return [found.get((id(node), output)) for node, output in self._wanted]

    def _runs(self, node: Any, held: Dict[int, Any]) -> bool:
        if not held or id(node) not in self._on_the_way:
            return False
        if _is_leaf(node):
            return self._accumulate
        if id(node) not in self._targets:
            return True
        return any(one is not None and id(one) in self._on_the_way for one, _ in node.next_functions)

    def _answers(self, node: Any, held: Dict[int, Any]) -> List[Any]:
        """The gradients of a node's inputs, one for each of its edges."""
        metadata = _metadata(node)
        number = max([len(metadata), *(output + 1 for output in held)])
        given = [held.get(place) for place in range(number)]
        own = getattr(node, "needs_input_grad", None)
        if own is None or not hasattr(type(node), "apply"):
            return _as_list(node(*given))
        if getattr(node, "_triton_triage_materialize", True):
            given = [self._zeros(metadata, place) if one is None else one for place, one in enumerate(given)]
        answers = _as_list(node.apply(*given))
        of_tensors = iter([one for one, needed in zip(answers, own) if needed])  # noqa: B905 - of Python 3.10
        return [next(of_tensors, None) if following is not None else None for following, _ in node.next_functions]

    def _fitting(self, gradient: Any, metadata: Any, place: int) -> Any:
        """In the shape and of the type of what it is the gradient of: formulas leave that to the engine."""
        if gradient is None or place >= len(metadata):
            return gradient
        wanted = metadata[place]
        if tuple(gradient.shape) != tuple(wanted.shape):
            gradient = gradient.sum_to_size(tuple(wanted.shape))
        return gradient if gradient.dtype == wanted.dtype else gradient.to(wanted.dtype)

    def _zeros(self, metadata: Any, place: int) -> Any:
        if place >= len(metadata):
            return None
        wanted = metadata[place]
        return self._torch.zeros(tuple(wanted.shape), dtype=wanted.dtype, device=wanted.device)

    def _one(self, node: Any, output: int) -> Any:
        wanted = _metadata(node)[output]
        return self._torch.ones(tuple(wanted.shape), dtype=wanted.dtype, device=wanted.device)

    def _add(self, node: Any, output: int, gradient: Any) -> None:
        held = self._gradients.setdefault(id(node), {})
        held[output] = held[output] + gradient if held.get(output) is not None else gradient

    def _push(self, node: Any) -> None:
        """Nodes that were made last go first, and leaves at once."""
        order = -(1 << 62) if _is_leaf(node) else -int(node._sequence_nr())
        heapq.heappush(self._ready, (order, next(self._counter), node))


def _metadata(node: Any) -> Any:
    return getattr(node, "_input_metadata", ())


def _is_leaf(node: Any) -> bool:
    return hasattr(node, "variable")


def _as_list(found: Optional[Any]) -> List[Any]:
    return list(found) if isinstance(found, (tuple, list)) else [found]
