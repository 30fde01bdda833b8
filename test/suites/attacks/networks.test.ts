import { playAttacks } from './stage/attack.ts';
import { networkAttacks } from './lists/networks.ts';

playAttacks(networkAttacks);
