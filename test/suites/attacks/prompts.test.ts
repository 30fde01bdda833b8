import { playAttacks } from './attack.ts';
import { promptAttacks } from './lists/prompts.ts';

playAttacks(promptAttacks);
