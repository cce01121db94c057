"""One class of the kit's suite for every saboteur of the kind that SABOTAGE_KIND names."""

import importlib
import os

arena = importlib.import_module(f"sabotage.{os.environ['SABOTAGE_KIND']}_arena")

for saboteur in arena.TABLE.saboteurs.values():
    name = "Test" + "".join(word.capitalize() for word in saboteur.name.split("_"))
    globals()[name] = type(name, (arena.Arena,), {"saboteur": saboteur, "__module__": __name__})
