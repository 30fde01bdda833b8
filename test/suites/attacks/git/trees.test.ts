import { playAttacks } from '../stage/attack.ts';
import { treeAttacks } from './trees.ts';

playAttacks(treeAttacks);
