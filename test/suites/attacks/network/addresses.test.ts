import { playAttacks } from '../stage/attack.ts';
import { addressAttacks } from './addresses.ts';

playAttacks(addressAttacks);
