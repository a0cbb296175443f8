from verified.lmm.jobs import AskingJobs
from verified.lmm.tasks.paper import TASKS_OF_STAGE
from verified.weights.wanted import role_records, sentence_records

ASKING = AskingJobs(settings)
