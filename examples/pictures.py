"""Draw the pictures of the pages again, from the examples of the gallery.

``python examples/pictures.py`` writes them to docs/. Pictures of pages in a browser have scripts of
their own: report_picture.py and labelling_picture.py.
"""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[1]
#: Each picture, the example whose last figure it is, and its dots per inch.
PICTURES = {
    "digits.png": ("plot_choose_k", 110),
    "lazy.png": ("plot_local_models", 90),
    "plots.png": ("plot_displays", 70),
}


def main() -> None:
    for name, (example, dpi) in PICTURES.items():
        runpy.run_path(str(ROOT / "examples" / "gallery" / f"{example}.py"))
        plt.gcf().savefig(ROOT / "docs" / name, dpi=dpi)
        plt.close("all")


if __name__ == "__main__":
    main()
