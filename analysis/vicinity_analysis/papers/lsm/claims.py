"""The claims of Luong, Melab and Talbi, "GPU computing for parallel local search metaheuristics", about Tables 2 to 11.

A speed-up is over one core: the paper's CPU beside each card as printed, ours `cpu-serial` of the same machine. What
all cores (`cpu-openmp`) and `gpu-tuned` make of it is told beside it, and does not decide."""

from vicinity_analysis.claims import Claim
from vicinity_analysis.papers.lsm import judges
from vicinity_analysis.papers.lsm.judges import PLAIN, TEXTURE

TABLE2, TABLE3, TABLE4, TABLE5, TABLE6, TABLE7, TABLE8, TABLE9 = (f"lsm/table{k}" for k in range(2, 10))
TABLE10, TABLE11 = "lsm/table10", "lsm/table11"
SEARCHES = (TABLE2, TABLE3, TABLE4, TABLE6, TABLE7)
COPIES = "; not judged where the host copies less than whole neighbour solutions"
GROWS = "the speed-up of `gpu-texture` never falls by more than a tenth from one row to the next larger one, and the "
GROWS += "largest instance's is above the smallest's"

CLAIMS = (
    Claim(
        "same-semantics",
        TABLE2,
        "the iteration-level parallel model does not change the semantics of the sequential algorithm",
        "section 6",
        "every run of the paper's own ways takes the same moves as the CPU's, one by one, and ends at the same "
        "solution",
        judges.same_moves,
        timed=False,
        also=(TABLE3, TABLE4, TABLE5, TABLE6, TABLE7, TABLE8, TABLE9),
    ),
    Claim(
        "qap-positive",
        TABLE2,
        "from the instance tai30a, using texture memory starts providing positive acceleration factors",
        "section 6.1, on Table 2",
        "`gpu-texture` is faster than one core in every row; in part: in half of them",
        judges.faster_everywhere(),
    ),
    Claim(
        "qap-growth",
        TABLE2,
        "GPU keeps accelerating the search as long as the size grows",
        "section 6.1, on Table 2",
        GROWS,
        judges.grows("", PLAIN, TEXTURE),
    ),
    Claim(
        "texture",
        TABLE2,
        "Non-coalescing memory drastically reduces the performance of GPU implementation on both G80 cards. […] "
        "Binding texture on global memory allows to overcome the problem",
        "section 6.1, on Table 2",
        "`gpu-texture` is at least 1.1 times as fast as `gpu` in every row; in part: in half of them",
        judges.texture_helps,
    ),
    Claim(
        "texture-and-cache",
        TABLE2,
        "since this last card provides on-chip memory for L1 cache memory, the benefits of texture memory are less "
        "pronounced",
        "section 6.1, on Table 2 (Tesla M2050)",
        "the median gain of `gpu-texture` over `gpu` is below 1.3; printed: and the least of the four cards",
        judges.texture_helps_less,
    ),
    Claim(
        "ppp-one-flip-texture",
        TABLE3,
        "From m = 401 and n = 417, the GPU version using texture memory starts to be faster than the CPU one",
        "section 6.2, on Table 3",
        "`gpu-texture` is slower than one core below 401-417 and faster from there on; in part: one of the two",
        judges.loses_below(417, TEXTURE),
    ),
    Claim(
        "ppp-one-flip-plain",
        TABLE3,
        "from m = 601 and n = 617, the GPU version without any texture memory use starts to provide better results",
        "section 6.2, on Table 3",
        "`gpu` is slower than one core below 601-617 and faster from there on; in part: one of the two",
        judges.loses_below(617, PLAIN),
    ),
    Claim(
        "ppp-one-flip-growth",
        TABLE3,
        "The speed-up grows with the problem size augmentation (up to ×12 for m = 1301, n = 1317)",
        "section 6.2, on Table 3",
        GROWS,
        judges.grows("hamming1"),
    ),
    Claim(
        "ppp-two-flips-positive",
        TABLE4,
        "For the first instance (m = 73, n = 73), acceleration factors of the texture version are already significant",
        "section 6.2, on Table 4",
        "`gpu-texture` is faster than one core in every row; in part: in half of them",
        judges.faster_everywhere("hamming2"),
    ),
    Claim(
        "ppp-two-flips-growth",
        TABLE4,
        "As long as the instance size increases, the acceleration factor grows accordingly",
        "section 6.2, on Table 4",
        GROWS,
        judges.grows("hamming2"),
    ),
    Claim(
        "large-neighborhoods",
        TABLE4,
        "parallelization on top of GPU provides a highly efficient way for handling large neighborhoods",
        "section 6.2, on Tables 3 and 4",
        "the speed-up of `gpu-texture` for two flips is above that for one, on every instance; in part: on half",
        judges.larger_neighborhood,
        also=(TABLE3,),
    ),
    Claim(
        "eighty",
        TABLE4,
        "accelerations up to ×80 are reported for the large combinatorial problems",
        "abstract; the largest of Tables 2 to 7 is printed as 73.3 (docs/errata.md)",
        "somewhere in Tables 2, 3, 4, 6 and 7 one of the paper's own ways reaches 80 over one core; in part: 40",
        judges.up_to(80),
        also=SEARCHES,
    ),
    Claim(
        "two-hundred-forty",
        TABLE5,
        "up to ×240 for a continuous problem",
        "abstract",
        "`gpu` reaches 240 over one core; in part: 120",
        judges.up_to(240),
    ),
    Claim(
        "weierstrass-range",
        TABLE5,
        "They alternate from ×39.2 to ×243 according to the different configurations, and they grow with the instance "
        "size augmentation",
        "section 6.3, on Table 5",
        "every speed-up of `gpu` at least 39.2, and growing from row to row; in part: one of the two",
        judges.range_and_growth(39.2),
    ),
    Claim(
        "weierstrass-quadratic",
        TABLE5,
        "The complexity of the evaluation function is quadratic",
        "section 6.3",
        "on one core, time grows as the dimension to a power of 1.7 to 2.3 over the upper half of the dimensions",
        judges.quadratic,
    ),
    Claim(
        "double-precision",
        "lsm/precision",
        "It points out the accuracy difference of produced solutions, when using single or double precision "
        "floating-point",
        "section 6.3 (its figures are in an appendix that is not at hand)",
        "double precision ends lower in every run of the same seed; in part: in half of them",
        judges.double_is_better,
        timed=False,
    ),
    Claim(
        "tsp-growth",
        TABLE6,
        "for the GeForce 8800, with the use of texture memory, accelerations start from ×1.5 with the eil101 instance "
        "and grows up to ×4.4 for pr2392. In a similar manner, GTX 280 starts from ×2.3 and goes up to an acceleration "
        "factor of ×11",
        "section 6.4, on Table 6",
        GROWS,
        judges.grows("", TEXTURE),
    ),
    Claim(
        "tsp-failures",
        TABLE6,
        "for the three first configurations, for larger instances such as pr2392, fnl4461 or rl5915, the program has "
        "provoked an execution error because of the hardware register limitation",
        "section 6.4, on Table 6",
        "no instance of 2392 cities or more could be run; in part: some",
        judges.fails_on_large,
        timed=False,
    ),
    Claim(
        "control-robust",
        TABLE7,
        "the execution of these instances on GPU has been successfully terminated whatever the used card",
        "section 6.5, on Table 7",
        "with thread control all of pr2392, fnl4461 and rl5915 (or their stand-ins) ran, their trials to the end; in "
        "part: some",
        judges.control_runs_all,
        timed=False,
    ),
    Claim(
        "control-gain",
        TABLE7,
        "Performance improvement in comparison with the standard texture version varies between 1% and 5%",
        "section 6.5, on Table 7",
        "`gpu-thread-control` is 1.01 to 1.05 times as fast as `gpu-texture` in every row that was run with all its "
        "iterations, its trials to the end; in part: in half of them",
        judges.control_gains,
    ),
    Claim(
        "transfers",
        TABLE8,
        "most of the time is devoted to data transfer. Indeed, it accounts for nearly 75% of the execution time",
        "section 6.6, on Table 8 (neighbourhood generated on the CPU)",
        "transfers take 70 to 80 % of `gpu-host-neighborhood` in every row; in part: in half of them" + COPIES,
        judges.transfers_dominate,
    ),
    Claim(
        "generation-diminishes",
        TABLE8,
        "the acceleration factors diminish with the instance size (from ×3.3 to ×0.6)",
        "section 6.6, on Table 8 (neighbourhood generated on the CPU)",
        "the speed-up of `gpu-host-neighborhood` never rises by more than a ninth from row to row and ends below its "
        "start" + COPIES,
        judges.diminishes,
        also=(TABLE4,),
    ),
    Claim(
        "generation-on-gpu",
        TABLE8,
        "the neighborhood should be generated on GPU",
        "section 6.6, on Table 8",
        "`gpu-host-neighborhood` takes longer than `gpu-texture` in every row; in part: in half of them" + COPIES,
        judges.generate_on_gpu,
        also=(TABLE4,),
    ),
    Claim(
        "reduction",
        TABLE9,
        "Such improvement between 10% and 20% is maintained for most of the instances",
        "section 6.7, on Table 9",
        "more than half of the rows gain 10 to 20 % by the reduction; in part: more than half gain anything",
        judges.reduction_gains,
    ),
    Claim(
        "converged",
        "lsm/quality_qap",
        "The number of global iterations of the Tabu Search is set to 10000 which corresponds to a realistic scenario "
        "in accordance with the algorithm convergence",
        "section 6",
        "in every row most searches of 10000 iterations found their best before the last tenth of them, and 100000 "
        "take less than a tenth off the mean gap to the best known objective that 10000 leave, over ten seeds or more "
        "of an instance; in part: one of the two, or half of the rows",
        judges.converged,
        timed=False,
        also=("lsm/quality_long", "lsm/quality_tsp", *SEARCHES, TABLE5),
    ),
    Claim(
        "cluster-peak",
        TABLE10,
        "the acceleration factors keeps growing up until reaching a particular instance, then it immediately decreases "
        "with the instance size",
        "section 6.8, on Table 10",
        "the speed-up of the processes grows to its largest value at an instance that is neither the smallest nor the "
        "largest, and at the largest is below nine tenths of it; a speed-up that levels off has no peak",
        judges.peaks,
    ),
    Claim(
        "cluster-communication",
        TABLE10,
        "a performance improvement can be made as long as the part reserved to the partitions evaluation (worker) is "
        "not too much dominated by the communication time",
        "section 6.8; the shares themselves are in an appendix that is not at hand, and nothing is judged as printed",
        "from the instance of the largest speed-up on, the share of communication grows from row to row; a fall of "
        "the speed-up in which it does not has another cause",
        judges.communication_causes_the_fall,
    ),
    Claim(
        "gpu-over-cluster",
        TABLE10,
        "parallelization of LSMs on top of GPUs is much more efficient for dealing with parallel regular applications",
        "section 6.8, on Tables 10 and 11",
        "`gpu-texture` is faster than the processes in every row; in part: in half of them",
        judges.gpu_beats_processes,
        also=(TABLE11,),
    ),
    Claim(
        "grid-below-cluster",
        TABLE11,
        "In general, the overall performance is less significant than COWs for a comparable computational horsepower",
        "section 6.8, on Tables 10 and 11",
        "printed: the grid's speed-up is below the cluster's in every row, configuration by configuration; in part: in "
        "half of them. Measured: no network, nothing is judged",
        judges.grid_below_cluster,
        also=(TABLE10,),
    ),
)
