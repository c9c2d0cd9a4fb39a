"""Backward passes over fake tensors, in Python: torch's own engine asks the driver for streams, and there is none.

Hooks on non-leaf tensors are not called."""

import heapq
import itertools
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

_Key = Tuple[int, int]


def replace_engine(torch: Any) -> None:
    """Run graphs that touch the device through this engine, all others through torch's own."""
    from torch.autograd import function

    holder = torch.autograd.Variable
    engine = holder._execution_engine = _Engine(torch, holder._execution_engine)
    # Code that torch compiled asks torch's own engine, which is not running.
    keeps = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", None)
    if keeps is not None:
        torch._C._autograd._get_current_graph_task_keep_graph = lambda: engine.keeps_graph(keeps)
    set_materialize = function.FunctionCtx.set_materialize_grads

    def set_materialize_grads(self: Any, value: bool) -> None:
        self._triton_triage_materialize = value
        set_materialize(self, value)

    function.FunctionCtx.set_materialize_grads = set_materialize_grads


class _Engine:
    """Replaces ``Variable._execution_engine``."""

    def __init__(self, torch: Any, own: Any) -> None:
        self._torch, self._own = torch, own
        self._callbacks: List[Callable[[], None]] = []
        self._depth = 0
        self._keeps = False

    def keeps_graph(self, own: Callable[[], bool]) -> bool:
        """Whether the running pass keeps its graph for another."""
        return self._keeps if self._depth else own()

    def queue_callback(self, callback: Callable[[], None]) -> None:
        """Call back when the backward pass is done."""
        if self._depth:
            self._callbacks.append(callback)
        else:
            self._own.queue_callback(callback)

    def is_checkpoint_valid(self) -> bool:
        """Whether only leaves receive gradients."""
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
        """Same interface as torch's engine."""
        graph = _Graph([self._edge(gradient_edge) for gradient_edge in tensors])
        if not graph.on_device():
            return self._own.run_backward(
                tensors, grad_tensors, keep_graph, create_graph, inputs or (), allow_unreachable, accumulate_grad
            )
        wanted = [self._edge(gradient_edge) for gradient_edge in inputs or ()]
        before, self._keeps = self._keeps, keep_graph
        self._depth += 1
        try:
            with self._torch.set_grad_enabled(create_graph):
                gradients = _Pass(self._torch, graph, wanted, accumulate_grad).run(grad_tensors)
        finally:
            self._depth -= 1
            self._keeps = before
        if not self._depth:
            callbacks, self._callbacks = self._callbacks, []
            for callback in callbacks:
                callback()
        if accumulate_grad:
            return None
        if not allow_unreachable and any(gradient_edge is None for gradient_edge in gradients):
            raise RuntimeError(
                "One of the differentiated Tensors appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior."
            )
        return tuple(gradients)

    def _edge(self, tensor: Any) -> Tuple[Any, int]:
        """Node and output index of a tensor."""
        if isinstance(tensor, tuple):  # a GradientEdge
            return tensor[0], tensor[1]
        if tensor.grad_fn is not None:
            return tensor.grad_fn, tensor.output_nr
        if not tensor.requires_grad:
            raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
        with self._torch.enable_grad():
            return tensor.view_as(tensor).grad_fn.next_functions[0][0], 0


class _Graph:
    """All reachable nodes, with the number of incoming edges of each."""

    def __init__(self, roots: List[Tuple[Any, int]]) -> None:
        self.roots = roots
        self.nodes: Dict[int, Any] = {}
        self.awaited: Dict[int, int] = {}
        todo = [node for node, _ in roots]
        while todo:
            node = todo.pop()
            if id(node) in self.nodes:
                continue
            self.nodes[id(node)] = node  # also keeps the node alive, so that its id stays unique
            for following, _ in node.next_functions:
                if following is not None:
                    self.awaited[id(following)] = self.awaited.get(id(following), 0) + 1
                    todo.append(following)

    def on_device(self) -> bool:
        """Whether any output is on the device."""
        return any(output.device.type != "cpu" for node in self.nodes.values() for output in _metadata(node))

    def leading_to(self, wanted: Set[int]) -> Set[int]:
        """The nodes from which one of these can be reached."""
        predecessors: Dict[int, List[int]] = {}
        for key, node in self.nodes.items():
            for following, _ in node.next_functions:
                if following is not None:
                    predecessors.setdefault(id(following), []).append(key)
        leading: Set[int] = set()
        todo = [key_ for key_ in wanted if key_ in self.nodes]
        while todo:
            key = todo.pop()
            if key not in leading:
                leading.add(key)
                todo.extend(predecessors.get(key, ()))
        return leading


class _Pass:
    """One backward pass. ``wanted``: edges whose gradients are requested; empty means those of all leaves."""

    def __init__(self, torch: Any, graph: _Graph, wanted: List[Tuple[Any, int]], accumulate: bool) -> None:
        self._torch, self._graph, self._wanted, self._accumulate = torch, graph, wanted, accumulate
        self._targets = {id(node) for node, _ in wanted}
        self._on_the_way = graph.leading_to(self._targets) if wanted else set(graph.nodes)
        self._gradients: Dict[int, Dict[int, Any]] = {}
        self._ready: List[Tuple[int, int, Any]] = []
        self._awaited = dict(graph.awaited)
        self._counter = itertools.count()

    def run(self, gradients: Any) -> List[Any]:
        """The requested gradients, in order."""
        for (node, output), gradient in zip(self._graph.roots, gradients):  # noqa: B905 - of Python 3.10
            incoming = gradient if gradient is not None else self._full(_metadata(node)[output], 1)
            self._add(node, output, incoming)
        for node in {id(node): node for node, _ in self._graph.roots}.values():
            if not self._awaited.get(id(node)):
                self._push(node)
        results: Dict[_Key, Any] = {}
        while self._ready:
            node = heapq.heappop(self._ready)[2]
            metadata = _metadata(node)
            incoming = self._gradients.pop(id(node), {})
            held = {output: self._fitting(value, metadata, output) for output, value in incoming.items()}
            if id(node) in self._targets:
                results.update({(id(node), output): value for output, value in held.items()})
            outgoing = self._answers(node, held) if self._runs(node, held) else []
            edges = node.next_functions
            for index, (following, output) in enumerate(edges):
                if following is None:
                    continue
                if index < len(outgoing) and outgoing[index] is not None:
                    self._add(following, output, outgoing[index])
                self._awaited[id(following)] -= 1
                if not self._awaited[id(following)]:
                    self._push(following)
        return [results.get((id(node), output)) for node, output in self._wanted]

    def _runs(self, node: Any, held: Dict[int, Any]) -> bool:
        if not held or id(node) not in self._on_the_way:
            return False
        if _is_leaf(node):
            return self._accumulate
        if id(node) not in self._targets:
            return True
        return any(following is not None and id(following) in self._on_the_way for following, _ in node.next_functions)

    def _answers(self, node: Any, held: Dict[int, Any]) -> List[Any]:
        """Gradients of a node's inputs, one for each edge."""
        metadata = _metadata(node)
        number = max([len(metadata), *(output + 1 for output in held)])
        incoming = [held.get(index) for index in range(number)]
        needed_inputs = getattr(node, "needs_input_grad", None)
        if needed_inputs is None or not hasattr(type(node), "apply"):
            return _as_list(node(*incoming))
        if getattr(node, "_triton_triage_materialize", True):
            for index, expected in enumerate(metadata):
                if incoming[index] is None:
                    incoming[index] = self._full(expected, 0)
        answers = _as_list(node.apply(*incoming))
        of_tensors = iter([gradient for gradient, needed in zip(answers, needed_inputs) if needed])  # noqa: B905 - of Python 3.10
        return [next(of_tensors, None) if following is not None else None for following, _ in node.next_functions]

    def _fitting(self, gradient: Any, metadata: Any, index: int) -> Any:
        """Reduce and cast a gradient to its tensor's shape and dtype: formulas leave that to the engine."""
        if gradient is None or index >= len(metadata):
            return gradient
        expected = metadata[index]
        if tuple(gradient.shape) != tuple(expected.shape):
            gradient = gradient.sum_to_size(tuple(expected.shape))
        return gradient if gradient.dtype == expected.dtype else gradient.to(expected.dtype)

    def _full(self, expected: Any, value: int) -> Any:
        return self._torch.full(tuple(expected.shape), value, dtype=expected.dtype, device=expected.device)

    def _add(self, node: Any, output: int, gradient: Any) -> None:
        held = self._gradients.setdefault(id(node), {})
        held[output] = held[output] + gradient if held.get(output) is not None else gradient

    def _push(self, node: Any) -> None:
        """Queue a node: latest created first, leaves at once."""
        order = -(1 << 62) if _is_leaf(node) else -int(node._sequence_nr())
        heapq.heappush(self._ready, (order, next(self._counter), node))


def _metadata(node: Any) -> Any:
    return getattr(node, "_input_metadata", ())


def _is_leaf(node: Any) -> bool:
    return hasattr(node, "variable")


def _as_list(value: Optional[Any]) -> List[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]
