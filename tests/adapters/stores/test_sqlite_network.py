"""Where locks keep nobody out, no index is made: network file systems are known by the kernel's table of mounts."""

import pytest

from steadlith_adapters.caches.sqlite import FACTORY as CACHES
from steadlith_adapters.sqlite import network
from steadlith_adapters.stores.sqlite import FACTORY
from steadlith_core.errors import ConfigError

TABLE = r"""
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:21 / /proc rw,nosuid - proc proc rw
40 22 0:40 / /mnt/team rw,relatime shared:2 master:1 - nfs4 server:/export rw,vers=4.2
41 40 0:41 / /mnt/team/scratch rw - tmpfs tmpfs rw
42 22 0:42 / /mnt/with\040blank\134and\011tab rw - fuse.sshfs me@host: rw
43 22 0:43 / /mnt/twice rw - cifs //server/share rw
44 22 0:44 / /mnt/twice rw - xfs /dev/sdb1 rw
45 22 0:45 / /mnt/teamwork rw - btrfs /dev/sdc1 rw
a line of some later kernel
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/me/index.sqlite3", ("/", "ext4")),
        ("/mnt/team/a/index.sqlite3", ("/mnt/team", "nfs4")),
        ("/mnt/team", ("/mnt/team", "nfs4")),
        ("/mnt/team/scratch/index.sqlite3", ("/mnt/team/scratch", "tmpfs")),
        ("/mnt/teamwork/index.sqlite3", ("/mnt/teamwork", "btrfs")),
        ("/mnt/with blank\\and\ttab/i", ("/mnt/with blank\\and\ttab", "fuse.sshfs")),
        ("/mnt/twice/i", ("/mnt/twice", "xfs")),
    ],
)
def test_a_path_is_on_the_nearest_mount_above_it_and_the_last_one_there(path, expected):
    assert network.mounted(TABLE, path) == expected


def test_a_table_that_names_nothing_above_says_nothing():
    assert network.mounted("", "/a") is None
    assert network.mounted(" - \n- - -\n1 2 3 4 - ext4 x\n", "/a") is None


@pytest.fixture
def mounted(tmp_path, monkeypatch):
    """Take `shared` below the test's folder for a mount of that type."""

    def mount(kind):
        table = tmp_path / "mountinfo"
        place = str(tmp_path / "shared").replace(" ", r"\040")
        table.write_text(
            f"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n40 22 0:40 / {place} rw - {kind} server:/x rw\n", "utf-8"
        )
        monkeypatch.setattr(network, "MOUNTS", table)
        (tmp_path / "shared").mkdir(exist_ok=True)
        return tmp_path / "shared"

    return mount


@pytest.mark.parametrize("kind", sorted(network.NETWORK))
def test_nothing_is_locked_opened_or_made_on_a_network_file_system(mounted, kind):
    folder = mounted(kind)
    settings = {"path": "index.sqlite3"}
    for act in (
        FACTORY.lock(settings, root=str(folder), timeout=0, holder="h").acquire,
        lambda: FACTORY.open(settings, root=str(folder), readonly=False),
        lambda: FACTORY.open(settings, root=str(folder), readonly=True),
        lambda: CACHES.open({"path": "c"}, root=str(folder), readonly=False, today=0).put({}),
    ):
        with pytest.raises(ConfigError) as raised:
            act()
        told = str(raised.value)
        assert str(folder) in told
        assert f"is on a network file system ({kind}, mounted at" in told
        assert "PostgreSQL" in told
        assert told.startswith(("store.path: ", "cache.path: "))
    assert list(folder.iterdir()) == []


def test_a_link_that_leads_there_is_followed(mounted, tmp_path):
    folder = mounted("nfs")
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(ConfigError, match="network file system"):
        FACTORY.lock({"path": "link/index.sqlite3"}, root=str(tmp_path), timeout=0, holder="h").acquire()


@pytest.mark.parametrize("kind", ["ext4", "overlay", "tmpfs", "fuse.ntfs-3g", "9p", "virtiofs"])
def test_any_other_file_system_is_fine(mounted, kind):
    lock = FACTORY.lock({"path": "index.sqlite3"}, root=str(mounted(kind)), timeout=0, holder="h")
    lock.acquire()
    lock.release()


def test_without_a_table_nothing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(network, "MOUNTS", tmp_path / "none")
    lock = FACTORY.lock({"path": "index.sqlite3"}, root=str(tmp_path), timeout=0, holder="h")
    lock.acquire()
    lock.release()
