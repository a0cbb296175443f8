from verified.captions.unanswered import asked_in_of
from verified.lmm.ledger_bucket import share_ledger
from verified.lmm.paths import AskingJobs
from verified.lmm.tasks.paper import TASKS_OF_STAGE
from verified.weights.paths import role_records, sentence_records

ASKING = AskingJobs(settings)

if BUCKET and not workflow.output_settings.dryrun and (workflow.is_main_process or workflow.remote_exec):
    share_ledger(BUCKET, Path(settings.generation.ledger), workflow.is_main_process)
