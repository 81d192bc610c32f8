"""Many processes as one program: groups of ranks, and collective operations on arrays (`docs/distributed.md`).

    transport.py    what an engine must do: move bytes between ranks, without waiting; how waiting is done
    mpi.py          the engine of clusters, through mpi4py
    alone.py        one process
    simulation.py   N ranks as N threads of one process: what N processes compute, to the bit
    meeting.py      what ranks tell each other before they do something; how they wait, and what is counted
    group.py        collectives over a transport: checked, in rank order
    places.py       where in the program a collective stands, for errors
    reduce.py       the order of a reduction
    worker.py       the thread that runs what was asked for asynchronously
    world.py        the groups of this process by name; starting and ending
    ending.py       how a rank that fails ends the job
    errors.py       what goes wrong between ranks
    journal.py      what the ranks gave, for a program that is repeated by plain Python
    launch.py       starts the processes; `base/config.py: launched` says what has started this one

Nothing here knows tensors: operators (``ops/collective.py``) call `world.group(name)`, and give it NumPy arrays.
"""
