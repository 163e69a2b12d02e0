"""Names of launchers and schedulers. Help lists them, so this module imports nothing."""

STARTERS = {"mpiexec": "mpiexec", "srun": "srun", "jsrun": "jsrun", "aprun": "aprun", "flux": "flux run"}
TEMPLATES = {name: f"{starter} -n {{ranks}} {{command}}" for name, starter in STARTERS.items()}
SCHEDULERS = {"slurm": ("#SBATCH", "sbatch"), "pbs": ("#PBS", "qsub"), "flux": ("#flux:", "flux batch")}  # mark, submits
