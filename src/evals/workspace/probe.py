"""Ask a sandbox what it offers: folders, rights, and whether it sees a network."""

from __future__ import annotations

from dataclasses import dataclass

# Reserved for documentation, so no host answers there. Connecting a UDP socket sends nothing: the
# kernel only looks for a route.
_ADDRESSES = ("192.0.2.1", "2001:db8::1")
_INTERFACE_UP = 1

SCRIPT = f"""
for folder in input output; do [ -d "/workspace/$folder" ] && echo "folder $folder"; done
[ -w /workspace/output ] && echo "writable output"
find /workspace/input ! -readable 2>/dev/null | head -n 3 | sed 's/^/unreadable /'
for each in /sys/class/net/*; do
    [ -e "$each/flags" ] && echo "interface ${{each##*/}} $(cat "$each/flags")"
done
for address in {" ".join(_ADDRESSES)}; do
    (exec 3<>"/dev/udp/$address/9") 2>/dev/null && echo "route $address"
done
exit 0
"""


@dataclass(frozen=True)
class Findings:
    """What a sandbox said of itself."""

    folders: frozenset[str]
    output_writable: bool
    unreadable: tuple[str, ...]
    interfaces: frozenset[str]
    routes: tuple[str, ...]

    def fault(self, *, open_network: bool) -> str | None:
        """Return what makes the sandbox unfit and how to mend it, or None."""
        missing = [f"/workspace/{name}" for name in ("input", "output") if name not in self.folders]
        if missing:
            return (
                f"The sandbox has no folder {' and no folder '.join(missing)}. A sandbox "
                "specification of your own must offer /workspace/input and /workspace/output."
            )
        if not self.output_writable:
            return (
                "The sandbox's user cannot write /workspace/output. Make the folder in the image, "
                "owned by that user, so that the volume takes on its owner."
            )
        if self.unreadable:
            return (
                f"The sandbox's user cannot read {', '.join(self.unreadable)}. Give others the "
                "right to read the capsule's input: `chmod -R o+rX CAPSULE/input`."
            )
        return None if open_network else self._network_fault()

    def _network_fault(self) -> str | None:
        seen = [*sorted(self.interfaces - {"lo"}), *(f"a route to {name}" for name in self.routes)]
        if not seen:
            return None
        return (
            f"The sandbox sees a network where none was asked for: {', '.join(seen)}. Set "
            "`network_mode: none` on each service, or ask for an open network."
        )


def read_findings(printed: str) -> Findings:
    """Return what `SCRIPT` printed in a sandbox."""
    rows = [line.partition(" ")[::2] for line in printed.splitlines()]

    def values(word: str) -> list[str]:
        return [value for key, value in rows if key == word]

    return Findings(
        folders=frozenset(values("folder")),
        output_writable="output" in values("writable"),
        unreadable=tuple(values("unreadable")),
        interfaces=frozenset(name for name in map(_interface_up, values("interface")) if name),
        routes=tuple(values("route")),
    )


def _interface_up(text: str) -> str | None:
    # Some kernels put idle tunnel devices into every network namespace; those are down.
    name, _, flags = text.rpartition(" ")
    return name if int(flags, 16) & _INTERFACE_UP else None
