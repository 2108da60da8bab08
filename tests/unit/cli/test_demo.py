"""The small image that is made where no registry can be reached."""

import io
import tarfile

from tierce.cli import demo


def test_every_applet_of_the_local_image_is_its_one_program() -> None:
    with tarfile.open(fileobj=io.BytesIO(demo.image_archive(b"\x7fELF..."))) as archive:
        program = archive.extractfile("bin/busybox")
        assert program is not None
        assert program.read() == b"\x7fELF..."
        assert archive.getmember("bin/busybox").mode == 0o755
        links = {member.name: member.linkname for member in archive if member.issym()}
    assert {"bin/sh", "bin/ls", "bin/ps", "bin/sleep"} <= links.keys()
    assert set(links.values()) == {"busybox"}
