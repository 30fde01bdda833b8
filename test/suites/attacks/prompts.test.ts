import { playAttacks } from './stage/attack.ts';
import { promptAttacks } from './lists/prompts.ts';

playAttacks(promptAttacks);
