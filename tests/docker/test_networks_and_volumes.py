"""What containers share and what they do not: volumes and networks on a real Engine."""

import base64
import pathlib

import docker
import pytest

from tests.support.containers import FOREVER, POLITE, at_once, execute, finish, run, states
from tests.support.engines import BUSYBOX
from tests.support.service import Http
from tests.support.team import Team
from tests.support.waiting import until


def volumes(team: Team) -> set[pathlib.Path]:
    """The directories of volumes that go with their containers."""
    places = team.service.home / "mnt"
    return set(places.glob("*-*"))


def address(user: Http, ident: str) -> str:
    [[entry]] = user.call("GET", f"/containers/{ident}")["addresses"].values()
    return str(entry["addr"])


class TestMounts:
    def test_contents_are_a_file_inside(self, ann: Http) -> None:
        contents = base64.b64encode(b"secret\n").decode()
        mounts = [{"type": "bind", "source": contents, "destination": "/etc/app/key"}]
        ident = run(ann, mounts=mounts)
        assert execute(ann, ident, "cat", "/etc/app/key") == (0, "secret\n")

    def test_a_volume_by_size_goes_with_its_container(self, ann: Http, team: Team) -> None:
        before = volumes(team)
        ident = run(ann, mounts=[{"size": 1, "destination": "/data"}], command=POLITE)
        assert execute(ann, ident, "sh", "-c", "mkdir /data/deep && echo kept > /data/deep/file")[0] == 0
        [made] = volumes(team) - before
        assert (made / "deep" / "file").read_text() == "kept\n"
        ann.call("POST", f"/containers/{ident}/reboot")
        ann.wait(ident, "Running")
        assert execute(ann, ident, "cat", "/data/deep/file") == (0, "kept\n")
        ann.call("DELETE", f"/containers/{ident}?stop=true")
        ann.wait(ident, None)
        assert volumes(team) == before

    def test_a_named_volume_outlives_its_containers_and_stays_in_its_project(
        self, ann: Http, bob: Http
    ) -> None:
        mounts = [{"source": "notes", "destination": "/data"}]
        first = finish(ann, ["sh", "-c", "echo kept > /data/note"], mounts=mounts)
        ann.call("DELETE", f"/containers/{first['uuid']}")
        ann.wait(first["uuid"], None)
        assert execute(ann, run(ann, mounts=mounts), "cat", "/data/note") == (0, "kept\n")
        assert execute(bob, run(bob, mounts=mounts), "ls", "/data") == (0, "")


class TestNetworks:
    def test_a_project_reaches_its_own_by_name(self, ann: Http) -> None:
        serve = "mkdir /www && echo hello > /www/index.html && httpd -f -h /www"
        run(ann, name="web", command=["sh", "-c", serve])
        visitor = run(ann)
        until(lambda: execute(ann, visitor, "wget", "-q", "-O", "-", "http://web/") == (0, "hello\n"))

    def test_projects_do_not_reach_one_another(self, ann: Http, bob: Http) -> None:
        serve = ["nc", "-ll", "-p", "7000", "-e", "echo", "hello"]
        server = address(ann, run(ann, command=serve))
        friend, stranger = run(ann), run(bob)
        until(lambda: execute(ann, friend, "nc", "-w", "1", server, "7000") == (0, "hello\n"))
        assert execute(ann, friend, "ping", "-c", "1", "-W", "1", server)[0] == 0
        assert execute(bob, stranger, "nc", "-w", "1", server, "7000") != (0, "hello\n")
        assert execute(bob, stranger, "ping", "-c", "1", "-W", "1", server)[0] == 1
        assert set(ann.call("GET", f"/containers/{friend}")["addresses"]).isdisjoint(
            bob.call("GET", f"/containers/{stranger}")["addresses"]
        )

    def test_names_of_one_project_mean_nothing_in_another(self, ann: Http, bob: Http) -> None:
        run(ann, name="web")
        # A name that Docker does not know is asked of the machine's resolver, which takes its time.
        assert execute(bob, run(bob), "timeout", "2", "ping", "-c", "1", "web")[0] != 0

    def test_a_container_may_be_in_several_networks(self, ann: Http) -> None:
        both = run(ann, name="both", nets=[{"network": "front"}, {"network": "back"}])
        assert len(ann.call("GET", f"/containers/{both}")["addresses"]) == 2
        for network in ("front", "back"):
            one = run(ann, nets=[{"network": network}])
            assert execute(ann, one, "ping", "-c", "1", "-W", "1", "both")[0] == 0

    def test_first_containers_at_once_share_one_network(self, bob: Http, engine: docker.DockerClient) -> None:
        idents = at_once(lambda: bob.create(image=BUSYBOX, command=FOREVER))
        [network] = {name for ident in idents for name in bob.wait(ident, "Running")["addresses"]}
        assert len(engine.networks.list(names=[network])) == 1

    def test_a_network_goes_with_the_last_container(self, bob: Http, engine: docker.DockerClient) -> None:
        first, last = run(bob, command=POLITE), run(bob, command=POLITE)
        [network] = bob.call("GET", f"/containers/{first}")["addresses"]
        for ident, left in ((first, 1), (last, 0)):
            bob.call("DELETE", f"/containers/{ident}?stop=true")
            bob.wait(ident, None)
            assert len(engine.networks.list(names=[network])) == left

    @pytest.mark.parametrize("action", ["start", "reboot"])
    def test_a_network_that_was_removed_behind_our_back_is_made_and_joined_again(
        self, ann: Http, engine: docker.DockerClient, action: str
    ) -> None:
        nets = [{"network": "lost"}, {"network": "found"}]
        ident = run(ann, name=f"again-{action}", nets=nets, command=POLITE)
        ann.call("POST", f"/containers/{ident}/stop")
        networks = ann.wait(ident, "Stopped")["addresses"]
        for network in engine.networks.list(names=list(networks)):
            network.remove()

        ann.call("POST", f"/containers/{ident}/{action}")

        shown = ann.wait(ident, "Running", "Error")
        assert (shown["status"], shown["status_reason"]) == ("Running", None)
        assert [len(entries) for entries in shown["addresses"].values()] == [1, 1]
        for network in ("lost", "found"):
            friend = run(ann, nets=[{"network": network}])
            assert execute(ann, friend, "ping", "-c", "1", "-W", "1", f"again-{action}")[0] == 0

    def test_a_container_takes_with_it_the_networks_that_it_alone_was_in(
        self, ann: Http, engine: docker.DockerClient
    ) -> None:
        run(ann, nets=[{"network": "shared"}])
        own = ("first", "second", "third")
        ident = run(ann, nets=[{"network": name} for name in ("shared", *own)], command=POLITE)
        ann.call("DELETE", f"/containers/{ident}?stop=true")
        ann.wait(ident, None)
        names = {network.name.rsplit("-", 1)[1] for network in engine.networks.list() if "-" in network.name}
        assert names & {"shared", *own} == {"shared"}


def test_nothing_is_left_of_what_was_deleted(ann: Http, team: Team, engine: docker.DockerClient) -> None:
    volumes_before = volumes(team)
    contents = base64.b64encode(b"x").decode()
    mounts = [
        {"type": "bind", "source": contents, "destination": "/etc/key"},
        {"size": 1, "destination": "/data"},
    ]
    nets = [{"network": "front"}, {"network": "back"}]
    running = run(ann, mounts=mounts, nets=nets, command=POLITE)
    ended = finish(ann, ["true"], mounts=mounts)["uuid"]
    made = ann.create(image=BUSYBOX, run=False, mounts=mounts)
    ann.wait(made, "Created")
    failed = ann.create(image=BUSYBOX, command=["nosuch"], mounts=mounts)
    ann.wait(failed, "Error")
    idents = {running, ended, made, failed}
    names = {name for ident in idents for name in ann.call("GET", f"/containers/{ident}")["addresses"]}
    assert len(names) == 3
    assert len(volumes(team) - volumes_before) == 8

    for ident in idents:
        ann.call("DELETE", f"/containers/{ident}?stop=true")
    for ident in idents:
        ann.wait(ident, None)

    assert [states(engine, ident) for ident in idents] == [[], [], [], []]
    assert not {network.name for network in engine.networks.list()} & names
    assert volumes(team) == volumes_before
