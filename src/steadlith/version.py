"""The version, as plans name it: a constant, since asking the environment for it takes longer than a plan."""

VERSION = "2.0.0.dev0"
