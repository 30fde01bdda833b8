import { playAttacks } from '../stage/attack.ts';
import { promptAttacks } from './prompts.ts';

playAttacks(promptAttacks);
