import { answerParent } from '../support/answer-parent.ts';
import { runPollLoad } from '../support/poll-load.ts';

answerParent({ run: runPollLoad });
