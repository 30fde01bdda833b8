import { playAttacks } from '../stage/attack.ts';
import { packageAttacks } from './packages.ts';

playAttacks(packageAttacks);
