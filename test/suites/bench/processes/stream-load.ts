import { answerParent } from '../support/answer-parent.ts';
import { runStreamLoad } from '../support/stream-load.ts';

answerParent({ run: runStreamLoad });
