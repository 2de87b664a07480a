"""What each error message means, by its slug; printed by `rl-pipeline explain`.

An error itself says what, where, what was expected and what to do. Here stands what does not fit
into a message: why it is an error at all, and how to look further.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """A title of a few words and a text of some sentences, one paragraph."""

    title: str
    text: str


MESSAGES: dict[str, Explanation] = {
    "address-unknown": Explanation(
        "An address nothing here can open",
        "Inputs are paths of this machine, or URLs of folders and files in an S3-compatible store (s3://bucket/…), in "
        "Google Cloud Storage (gs://bucket/…) or on an SSH server (sftp://user@host:port/absolute/path). Each kind "
        "needs its extra: rl-pipeline[s3], [gcs] or [sftp].",
    ),
    "address-with-password": Explanation(
        "An address must not hold a password",
        "Addresses are stored beside tables, shown on pages and in messages, and kept in Dagster's history, so one "
        "with a password in it would spread it. Credentials come from where each service looks for them by itself: "
        "AWS_* variables, ~/.aws or a role; GOOGLE_APPLICATION_CREDENTIALS; an SSH key or agent. Where a password is "
        "the only way to an SSH server, FSSPEC_SFTP_USERNAME and FSSPEC_SFTP_PASSWORD are read.",
    ),
    "backfill-failed": Explanation(
        "Some partitions could not be made",
        "A partition that fails does not stop the others. Each failure is told with its reason and is an ordinary "
        "failed run in the Dagster UI. The same command, run again, makes only what is missing.",
    ),
    "bad-log-pattern": Explanation(
        "A pattern for log names cannot be used",
        "RL_PIPELINE_LOG_PATTERNS takes one pattern a line: a glob with {experiment} and {job}, or a regular "
        "expression with the named groups experiment and job. `job` must be there, `experiment` may come from the "
        "folder. Try a pattern with `rl-pipeline discover ROOT` before a deployment uses it.",
    ),
    "bad-notification-setting": Explanation(
        "A channel for messages is half configured",
        "A webhook needs a URL and a format (json or slack); mail needs a server, a sender and a receiver. "
        "Messages are always written to a JSON-lines file in the home, whatever other channels are set.",
    ),
    "bad-partition-key": Explanation(
        "A name cannot be a partition key",
        "Keys are letters, digits, dots, dashes and underscores, at most 120 of them, and begin with a letter or "
        "a digit. Names of experiments and jobs that do not fit get a key with a short hash; `rl-pipeline "
        "discover` shows which key belongs to which name.",
    ),
    "bad-setting": Explanation(
        "A setting cannot be understood",
        "Settings come from RL_PIPELINE_* variables and from settings.yaml in the home; the variable wins. The "
        "message names the setting, the value found and what it takes.",
    ),
    "bad-settings-file": Explanation(
        "The settings file cannot be used",
        "It is a YAML mapping of setting names to values, the same names as the variables without RL_PIPELINE_ "
        "and in small letters. A name that is no setting is an error, so that a typing mistake does not pass for "
        "a default.",
    ),
    "broker-unreachable": Explanation(
        "The Redis server that hands out runs is silent",
        "With RL_PIPELINE_BROKER_URL set, the daemon hands each run to a Redis server and workers on any machine take "
        "it from there. Runs that are asked for while it is away fail, are marked as failed by their surroundings, "
        "and are asked for again.",
    ),
    "dagster-missing": Explanation(
        "Dagster's command is not there",
        "`rl-pipeline ui` starts `dagster dev`. It is looked for beside this Python first, then on the PATH. "
        "Installing rl_pipeline brings it.",
    ),
    "demo-failed": Explanation(
        "The demo did not make all of its partitions",
        "The message shows the first failure in its own words. Run `rl-pipeline ui` and open the failed run to "
        "see its steps and checks; the sample itself is part of the package and is copied anew by each demo.",
    ),
    "home-not-writable": Explanation(
        "The home cannot be written",
        "RL_PIPELINE_HOME (by default ~/.rl_pipeline) holds tables, reports and Dagster's history. It must be on "
        "a local disk: SQLite's locks do not hold on network file systems. With PostgreSQL only the tables need a "
        "place.",
    ),
    "invalid-thresholds": Explanation(
        "The thresholds file does not say what it must",
        "Two levels: rule (R1 … R40, or shared), then the name of the threshold; the value is a number, or a "
        "mapping of value and source. All mistakes are listed together. The report prints every threshold in "
        "force and its source.",
    ),
    "log-damaged": Explanation(
        "Nothing of the logs' readable part is a metric block",
        "A compressed log ends early or is damaged, or reading it failed on the way; the message says where. A "
        "report is made of whatever can be read, but here that holds no training step. Copy the file once more, or "
        "unpack it with `gzip -dc` or `zstd -dc`, which say the same.",
    ),
    "log-unreadable": Explanation(
        "A job log cannot be read",
        "The file is not there any more, or this user may not read it. Damage inside a log never leads here: what can "
        "be read is read, and what cannot is counted in the report. Earlier tables and reports stay as they were.",
    ),
    "manifest-damaged": Explanation(
        "The list of stored tables is damaged",
        "Each job's folder in the store has a small manifest that names the current set of tables. One that can "
        "not be read was changed by something else. Delete it and materialize the job again: the log is the "
        "source.",
    ),
    "missing-path": Explanation(
        "A path does not exist",
        "Logs are given as an experiments root, one experiment's folder, its logs folder, or single files. A link "
        "that leads nowhere counts as missing.",
    ),
    "missing-sample": Explanation(
        "The bundled sample is not installed",
        "The sample lies in examples/sample of a checkout and inside the installed package. A package built by "
        "hand without it cannot run the demo.",
    ),
    "missing-trial-folder": Explanation(
        "A trial folder that was named does not exist",
        "--trace-jobs takes the folder that holds the trial folders (each with a result.json), usually called "
        "trace_jobs. Folders in the usual places are found without it.",
    ),
    "no-dagster-yaml": Explanation(
        "dagster.yaml is missing",
        "The same file configures every way of starting: it lies in the checkout, and a copy inside the installed "
        "package. Without it Dagster would keep its history wherever it happens to be started.",
    ),
    "no-job-logs": Explanation(
        "No job log was found",
        "A job log is a file named <name>_<job id>.out (or -, .log, .err, .gz, .zst) or slurm-<job id>.out. Logs "
        "of Ray heads and workers, of engine servers, empty files and hidden files are not jobs. Other ways of "
        "naming are set with RL_PIPELINE_LOG_PATTERNS; a single file can always be named directly.",
    ),
    "no-job-tables": Explanation(
        "An experiment has no job tables yet",
        "An experiment's assets read the tables of its jobs from the store. Materialize the job partitions first; "
        "the sensors do so by themselves.",
    ),
    "no-metric-block": Explanation(
        "The logs hold no metrics",
        "A report needs at least one `Step N:` block of SkyRL's console logger or one WANDB_MIRROR line. They are "
        "printed when the tracker includes `console`. A job that died before its first step has none; engine and "
        "trial tables can still be made as Dagster assets.",
    ),
    "no-recognised-line": Explanation(
        "Nothing in the files looks like a training log",
        "No line of SkyRL, vLLM, Harbor, Ray or SLURM was found. Usual reasons: another kind of file, a log that "
        "was encrypted or compressed in another way than gzip or zstd, or the log of a process that is not the "
        "trainer.",
    ),
    "no-broker": Explanation(
        "A worker needs a broker",
        "`rl-pipeline worker` takes runs from the Redis server that RL_PIPELINE_BROKER_URL names. On one machine none "
        "is needed: the daemon starts its runs itself.",
    ),
    "no-roots": Explanation(
        "No folder of experiments is configured",
        "Sensors and the job_index asset look below RL_PIPELINE_ROOTS. Without it, partitions are registered by "
        "hand with `rl-pipeline discover ROOT --register`.",
    ),
    "output-is-input": Explanation(
        "The report's folder is one of its inputs",
        "The last argument is where the report is written, and it was given as logs or trials as well. Pages among "
        "logs would be in the way of both. A folder below the experiment's, such as EXPERIMENT/report, is fine.",
    ),
    "output-not-writable": Explanation(
        "The report's folder cannot be written",
        "The bundle is written beside the earlier one and renamed into place, so the folder itself must take new "
        "files. It is checked before any log is read, and the earlier report stays as it was.",
    ),
    "path-unreadable": Explanation(
        "A path cannot be looked at",
        "The system does not even say whether something is there: a name is longer than the file system takes, a "
        "folder above it may not be entered by this user, or a disk or server does not answer.",
    ),
    "place-changed-key": Explanation(
        "An SSH server shows another key than before",
        "Either the server was set up anew, or somebody stands between. Servers are known by ~/.ssh/known_hosts, as "
        "for the ssh command; one that stands there with another key is refused.",
    ),
    "place-denied": Explanation(
        "A place elsewhere refuses",
        "The server answered and said no: there were no credentials, wrong ones, or they may not list, read or write "
        "there. Reading needs listing of the folder and reading of its files; a table store needs writing and "
        "deleting as well.",
    ),
    "place-not-installed": Explanation(
        "The library for a kind of address is missing",
        "Object stores and SSH servers are opened by libraries that not everybody needs: s3fs, gcsfs, paramiko. They "
        "come with the extras s3, gcs and sftp of this package.",
    ),
    "place-unreachable": Explanation(
        "A place elsewhere does not answer",
        "The host is unknown, the connection was refused, or the answer was an error. A store that is not Amazon's "
        "needs AWS_ENDPOINT_URL (or FSSPEC_S3_ENDPOINT_URL). Nothing was changed: tables become visible only when "
        "they are whole.",
    ),
    "port-taken": Explanation(
        "The web server cannot listen there",
        "`rl-pipeline ui` looks before it starts anything. Most often the port is taken by a web server that is "
        "running already: open its page, or stop it. `--port` (with make: `make ui PORT=3001`) takes another one. "
        "`--host` must be an address of this machine; 127.0.0.1 is the one that nobody else can reach.",
    ),
    "postgres-not-installed": Explanation(
        "PostgreSQL is configured but its driver is missing",
        "RL_PIPELINE_POSTGRES_URL moves Dagster's history into PostgreSQL; that needs the extra `postgres` of "
        "this package.",
    ),
    "report-elsewhere": Explanation(
        "A report needs a folder of this machine",
        "Inputs and tables may lie in an object store or on an SSH server; a report is a folder of pages and pictures "
        "that is put into its place by renaming, so it is written here. Copy it wherever it is wanted.",
    ),
    "several-experiments": Explanation(
        "More than one experiment where one is reported",
        "A report is about one chain of jobs. The experiment of a log is the folder above logs/, or the part of "
        "the file name before the job id. Name one with --experiment, or point at its folder.",
    ),
    "store-address-unknown": Explanation(
        "The address of the table store is not understood",
        "RL_PIPELINE_STORE is a folder or an fsspec URL such as s3://bucket/path. Protocols other than the local "
        "disk need their own package (s3fs, gcsfs, …) in the environment.",
    ),
    "store-not-writable": Explanation(
        "The table store cannot be written",
        "Tables are written beside the current ones and become visible all at once. Nothing was changed by the "
        "failed attempt; what it left is swept by the next one that succeeds.",
    ),
    "table-schema": Explanation(
        "A table does not have the columns it must",
        "Every table is checked against its schema before it is stored, so that a reader can rely on its columns. "
        "This is a mistake of the program and worth a report, with the message as it stands.",
    ),
    "tables-damaged": Explanation(
        "A stored table cannot be read",
        "The Parquet file is not whole, although files become visible only when complete: a disk error or another "
        "program. Materialize the partition again.",
    ),
    "tables-missing": Explanation(
        "A table is not in the store",
        "The partition was never materialized, or its folder was removed. Materialize it; registering alone makes "
        "no tables.",
    ),
    "tables-newer": Explanation(
        "The tables come from a newer version",
        "The schema version stands inside every file. Tables of a newer version may mean something else, so they "
        "are not guessed at. Use the newer program, or materialize again with this one.",
    ),
    "tables-outdated": Explanation(
        "The tables come from an older version",
        "The schema changed since they were written. Materialize the job again; the sensors do so by themselves "
        "because the version is part of each partition's data version.",
    ),
    "templates-missing": Explanation(
        "The templates are not there",
        "They lie in templates/ of a checkout and inside the installed package. A copy of the package without "
        "them cannot write a report.",
    ),
    "thresholds-unreadable": Explanation(
        "The thresholds file cannot be read",
        "The path is wrong, or the file is not text in UTF-8. Without the option the built-in thresholds are "
        "used; they are printed in every report.",
    ),
    "unknown-experiment": Explanation(
        "No experiment has this name",
        "The experiment of a log is the folder above logs/, or the part of the file name before the job id. "
        "`rl-pipeline discover` lists the names and keys below a folder; either is taken.",
    ),
    "unknown-message": Explanation(
        "No message has this name",
        "Every error ends with the name of its explanation. `rl-pipeline explain` without a name lists all of them.",
    ),
    "unknown-partition": Explanation(
        "A partition key that nobody registered",
        "Keys are written when a folder is registered: by the sensors, by the job_index asset, or with `rl- "
        "pipeline discover ROOT --register`. The same command lists the keys.",
    ),
    "workers-not-installed": Explanation(
        "The extra for workers is missing",
        "Handing runs to other machines needs dagster-celery and a Redis client, which most installations do not. "
        "They come with the extra `workers`, on the daemon's machine and on each worker's.",
    ),
}
