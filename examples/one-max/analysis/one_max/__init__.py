"""What the report says of the example: one claim, that all implementations find the same climb."""

from vicinity_analysis.claims import Claim, same_results
from vicinity_analysis.paper import Paper

PAPER = Paper(
    system="one-max",
    title="Weighted one-max: hill climbing, an example",
    claims=(
        Claim(
            experiment="one-max/climb",
            name="same-climb",
            quote="The GPU takes the same flips as one core.",
            place="examples/one-max/README.md",
            rule="holds if every record of a GPU implementation was compared with the reference and agrees",
            judge=same_results,
            timed=False,
        ),
    ),
)
