"""Makes the modules of this folder a package `second`: like every test folder it has no `__init__.py`."""

import sys
from pathlib import Path
from types import ModuleType

package = ModuleType("second")
package.__path__ = [str(Path(__file__).parent)]
sys.modules["second"] = package
