from __future__ import annotations

from evals.workspace.probe import read_findings

GOOD = "folder input\nfolder output\nwritable output\ninterface lo 0x9\n"


def fault(printed: str, *, open_network: bool = False) -> str:
    return read_findings(printed).fault(open_network=open_network) or ""


def test_a_sandbox_with_both_folders_and_no_network_is_fit() -> None:
    assert not fault(GOOD)


def test_a_missing_folder_is_named() -> None:
    assert "/workspace/output" in fault("folder input\n")


def test_an_output_that_the_agent_cannot_write_is_a_fault() -> None:
    assert "cannot write /workspace/output" in fault("folder input\nfolder output\n")


def test_an_input_file_that_the_agent_cannot_read_is_named_with_the_mend() -> None:
    told = fault(GOOD + "unreadable /workspace/input/a b.tif\n")
    assert "/workspace/input/a b.tif" in told
    assert "chmod" in told


def test_an_interface_that_is_up_is_a_network() -> None:
    assert "eth0" in fault(GOOD + "interface eth0 0x1003\n")


def test_an_idle_tunnel_device_is_no_network() -> None:
    assert not fault(GOOD + "interface tunl0 0x80\n")


def test_a_route_is_a_network() -> None:
    assert "192.0.2.1" in fault(GOOD + "route 192.0.2.1\n")


def test_a_network_that_was_asked_for_is_no_fault() -> None:
    assert not fault(GOOD + "interface eth0 0x1003\n", open_network=True)
