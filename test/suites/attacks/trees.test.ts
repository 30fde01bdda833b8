import { playAttacks } from './stage/attack.ts';
import { treeAttacks } from './lists/trees.ts';

playAttacks(treeAttacks);
